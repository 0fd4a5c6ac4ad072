"""Ledger files changed by somebody with write access."""

from __future__ import annotations

import json
from dataclasses import replace

from dpexplain.accounting.ledger_state import LedgerState


def by_hand(path, **changes):
    """Change fields of a file, but not its hashes."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}, indent=1))


def anew(path, **changes):
    """Change fields of a file and rewrite the whole hash chain, as an attacker would."""
    before = LedgerState.from_json(path.read_text())
    state = LedgerState.from_json(unchained_text(path, **changes))
    entries = tuple(
        replace(entry, provenance=old.provenance)
        for entry, old in zip(state.entries, before.entries, strict=True)
    )
    whole = replace(state, entries=entries, releases=before.releases, unchained=0)
    path.write_text(whole.to_json())


def unchained_text(path, **changes):
    """Return a file in the format of the last version without a chain."""
    content = {**json.loads(path.read_text()), **changes, "version": 3}
    entries = [
        {name: entry[name] for name in ("label", "unit", "events")} for entry in content["entries"]
    ]
    kept = {n: v for n, v in content.items() if n not in ("head", "releases", "unchained")}
    return json.dumps({**kept, "entries": entries})
