"""Small tools that know nothing of privacy, tables or models."""
