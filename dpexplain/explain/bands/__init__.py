"""How sure curves are: noise and estimates, as an explanation carries them."""
