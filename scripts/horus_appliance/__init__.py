"""What the commands in scripts/ share: building the appliance image, booting it, and telling a person about it.

Python's standard library only, 3.9 or newer, so that there is nothing to install before the first command runs.
"""
