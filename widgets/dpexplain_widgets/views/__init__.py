"""The views (one module for each) and their base class."""
