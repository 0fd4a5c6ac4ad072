"""Lower bounds on privacy loss from an attacker's guesses."""
