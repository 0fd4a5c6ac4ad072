"""The version of the library, which files and statements contain."""

__version__ = "0.1.0"
