"""Files of what a view shows: pages, pictures, tables."""
