"""The views, with one module for each, and their base class."""
