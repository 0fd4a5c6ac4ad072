"""Export of views as pages, pictures and tables."""
