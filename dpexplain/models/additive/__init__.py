"""Terms, predictions and explanations of all additive models."""
