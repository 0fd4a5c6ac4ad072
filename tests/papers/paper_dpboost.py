"""Studies of Li, Wu, Wen and He, AAAI 2020."""

from __future__ import annotations

from study import Study

STUDIES: tuple[Study, ...] = ()
