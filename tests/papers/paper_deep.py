"""Studies of the deep comparator of Harder, Bauer and Park, AAAI 2020."""

from __future__ import annotations

from study import Study

STUDIES: tuple[Study, ...] = ()
