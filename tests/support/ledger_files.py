"""Ledger files changed by somebody with write access."""

from __future__ import annotations

import json

from dpexplain.accounting._ledger.chain import BEFORE, chained, first_link, head_of

NO_LIMITS = ("format", "version", "entries", "releases", "head")


def by_hand(path, **changes):
    """Change fields of a file, but not its hashes."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}, indent=1))


def anew(path, **changes):
    """Change fields of a file and rewrite the whole hash chain, as an attacker would."""
    content = {**json.loads(path.read_text()), **changes}
    limits = {name: content[name] for name in content if name not in NO_LIMITS}
    ends = []
    for kind in ("entries", "releases"):
        links = [{n: v for n, v in link.items() if n != BEFORE} for link in content[kind]]
        content[kind], end = chained(links, first_link(limits, kind))
        ends.append(end)
    counts = (len(content["entries"]), len(content["releases"]))
    path.write_text(json.dumps({**content, "head": head_of(limits, tuple(ends), counts)}, indent=1))
