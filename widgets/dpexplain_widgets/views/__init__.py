"""The views, one module each, and their shared base."""
