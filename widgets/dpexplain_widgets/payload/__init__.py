"""What a view gets to show, as plain values."""
