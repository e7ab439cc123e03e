"""Checks of the bridge against the real ROS 2 and the real Zenoh, in a network of their own that nothing leaves."""
