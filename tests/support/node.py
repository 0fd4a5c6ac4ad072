"""The Node.js that ships with playwright, so that none has to be installed."""

from __future__ import annotations

from pathlib import Path

import playwright

NODE = next((Path(playwright.__file__).parent / "driver").glob("node*"))
