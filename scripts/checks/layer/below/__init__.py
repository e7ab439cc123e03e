"""The layer against checkouts of the layers below it: what scripts/check-layer asks BitBake itself."""
