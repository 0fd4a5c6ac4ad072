"""Studies of Harder, Bauer and Park, AAAI 2020, arXiv:1910.02578."""

from __future__ import annotations

from study import Study

STUDIES: tuple[Study, ...] = ()
