"""Studies of Nock and Henecka, arXiv:2001.09384."""

from __future__ import annotations

from study import Study

STUDIES: tuple[Study, ...] = ()
