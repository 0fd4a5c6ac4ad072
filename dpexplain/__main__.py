"""Run the command ``dpexplain`` with ``python -m dpexplain``."""

from __future__ import annotations

import sys

from dpexplain.cli import main

if __name__ == "__main__":
    sys.exit(main())
