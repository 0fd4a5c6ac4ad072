"""The views, one module each, and what they share."""
