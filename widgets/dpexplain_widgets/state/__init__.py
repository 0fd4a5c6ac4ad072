"""What is chosen in a view: traits that Python and the page both read and set."""
