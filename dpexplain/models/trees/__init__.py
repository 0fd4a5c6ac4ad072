"""What private tree ensembles share: public candidates, complete trees, exact explanations."""
