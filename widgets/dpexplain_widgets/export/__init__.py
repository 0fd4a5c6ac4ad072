"""Exports of views: pages, pictures and tables."""
