"""The state of a view: traits that both Python and the page read and set."""
