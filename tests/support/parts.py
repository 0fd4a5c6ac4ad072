"""Run all parts of the checks one after another, and report each at the end.

``python tests/support/parts.py unit browser --beside lint oldest`` runs ``make unit`` and then
``make browser``; at the same time it runs ``make lint`` and then ``make oldest``, whose output is
shown once each has ended, so that no two of them mix. With ``--at-once 2``, the two run side by
side as well; with ``--nice 5``, they give way to the others, which waiting browsers leave time
for. A failing part stops no other part. With ``--limit 4500``, whatever still runs
after that many seconds is stopped and fails: a part that hangs must not hide the others.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import psutil

CLOSING = re.compile(r"\d+ (passed|failed|errors?|skipped|xfailed|warnings?)\b.* in [\d.]+s")
COUNTED = re.compile(r"(\d+) (passed|failed|error|skipped)")
SHOWN = ("passed", "failed", "error", "skipped")


@dataclass(frozen=True)
class Outcome:
    """Outcome of one part.

    Attributes
    ----------
    part : str
        Target of make.
    status : int
        Exit status.
    seconds : float
        On the clock.
    counts : Counter of str
        Tests that passed, failed and so on, over all closing lines of pytest.
    """

    part: str
    status: int
    seconds: float
    counts: Counter[str]


def run(part: str, deadline: float, *, shown: bool, nice: int = 0) -> Outcome:
    """Run one part until a deadline; show its output as it comes, or at the end."""
    started = time.monotonic()
    lines: list[str] = []
    politely = ["nice", "-n", str(nice)] if nice and shutil.which("nice") else []
    title = f"\n===== make {part} =====\n"
    if shown:
        _write(title)
    process = subprocess.Popen(
        [*politely, os.environ.get("MAKE", "make"), part],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    timer = threading.Timer(max(deadline - started, 0), _stop, [process])
    timer.start()
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if shown:
            _write(line)
    status = process.wait()
    timer.cancel()
    if time.monotonic() >= deadline:
        lines.append(f"make {part} was stopped: the time of all parts was over\n")
        if shown:
            _write(lines[-1])
    if not shown:
        _write("".join([title, *lines]))
    return Outcome(part, status, time.monotonic() - started, counted(lines))


def _stop(process: subprocess.Popen[str]) -> None:
    """Stop a part and all processes that it started."""
    with suppress(psutil.NoSuchProcess):
        made = psutil.Process(process.pid)
        for one in [made, *made.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                one.kill()


def counted(lines: Sequence[str]) -> Counter[str]:
    """Add up the counts in the closing lines of pytest."""
    counts: Counter[str] = Counter()
    for line in filter(CLOSING.search, lines):
        counts.update({name: int(number) for number, name in COUNTED.findall(line)})
    return counts


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """Make a table with a line for each part, and a closing line for all of them."""
    lines = [f"{'part':<16}{'outcome':<9}{'seconds':>8}" + "".join(f"{s:>9}" for s in SHOWN)]
    for one in outcomes:
        outcome = "FAILED" if one.status else "ok"
        numbers = "".join(f"{one.counts[name] or '-':>9}" for name in SHOWN)
        lines.append(f"{one.part:<16}{outcome:<9}{one.seconds:>8.0f}{numbers}")
    total = sum((one.counts for one in outcomes), Counter())
    failed = [one.part for one in outcomes if one.status]
    parts = f"failed parts: {', '.join(failed)}" if failed else "all parts ok"
    lines += [
        f"{len(outcomes)} parts in {seconds:.0f} s; {parts}",
        f"{total['passed']} passed, {total['failed'] + total['error']} failed, "
        f"{total['skipped']} skipped",
    ]
    return "\n".join(lines)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts; return 1 if any of them failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", help="targets of make, shown as they run")
    parser.add_argument("--beside", nargs="*", default=[], help="targets to run at the same time")
    parser.add_argument("--at-once", type=int, default=1, help="how many of those run side by side")
    parser.add_argument("--nice", type=int, default=0, help="by how much they give way")
    parser.add_argument("--limit", type=float, default=86_400, help="seconds for all of them")
    asked, started = parser.parse_args(arguments), time.monotonic()
    deadline = started + asked.limit
    with ThreadPoolExecutor(asked.at_once) as pool:
        behind = partial(run, deadline=deadline, shown=False, nice=asked.nice)
        beside = [pool.submit(behind, part) for part in asked.beside]
        outcomes = [run(part, deadline, shown=True) for part in asked.parts]
        outcomes += [waiting.result() for waiting in beside]
    _write(f"\n{summary(outcomes, time.monotonic() - started)}\n")
    return int(any(one.status for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
