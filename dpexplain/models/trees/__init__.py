"""Private tree ensembles: base class, candidate splits and complete trees."""
