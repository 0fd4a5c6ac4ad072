"""Studies of Nori et al., ICML 2021, arXiv:2106.09680."""

from __future__ import annotations

from study import Study

STUDIES: tuple[Study, ...] = ()
