"""Version of the library, as stored in files and statements."""

__version__ = "0.1.0"
