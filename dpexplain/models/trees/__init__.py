"""Base class of private tree ensembles: public candidates, complete trees."""
