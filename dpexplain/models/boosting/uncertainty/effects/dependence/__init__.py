"""How features depend on each other, estimated from released numbers."""
