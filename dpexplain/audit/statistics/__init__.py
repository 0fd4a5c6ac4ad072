"""What the guesses of an attacker prove."""
