"""What linear, tree and boosting models share: terms, predictions, explanations."""
