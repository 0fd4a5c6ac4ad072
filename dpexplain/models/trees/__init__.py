"""Private tree ensembles: base class, public candidate splits, complete trees."""
