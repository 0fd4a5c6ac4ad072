"""The version of the library; what is written to files and statements names it."""

__version__ = "0.1.0"
