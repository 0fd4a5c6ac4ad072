"""Address of the repository in what is built: project URLs, and links of the README.

No file of the repository knows where it is hosted. Whoever builds a release says so::

    DPEXPLAIN_REPOSITORY=https://host/team/dpexplain make dist

Without it, no URLs are stated, and the README has no links and pictures that would lead nowhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "DPEXPLAIN_REPOSITORY"
# The target of a Markdown link, or of an attribute of HTML.
LINK = re.compile(r'(?P<before>\]\(|(?:src|srcset|href)=")(?![a-z]+:|#)(?P<path>[^)"\s]+)')
LINK_WORDS = re.compile(r"\[([^]\[]+)\]\((?![a-z]+:)[^)]+\)")
PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)
PAGES = {
    "Documentation": "docs/start/quick_start.md",
    "Changelog": "CHANGELOG.md",
    "Roadmap": "ROADMAP.md",
    "Security": "SECURITY.md",
}


def absolute_links(text: str, repository: str, tag: str) -> str:
    """Let links of a page lead to the files of one version, pictures to their bytes."""

    def absolute(match: re.Match[str]) -> str:
        kind = "raw" if match["path"].endswith(".png") else "blob"
        return f"{match['before']}{repository}/{kind}/{tag}/{match['path']}"

    return LINK.sub(absolute, text)


def without_relative_links(text: str) -> str:
    """Keep the words of links, and leave out pictures, whose files are not part of a package."""
    return LINK_WORDS.sub(r"\1", PICTURE.sub("", text))


class RepositoryHook(MetadataHookInterface):
    """Fill in the fields that depend on where the repository is."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the text of the README and, where the address is known, the URLs."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = os.environ.get(VARIABLE, "").rstrip("/")
        if repository:
            tag = f"v{metadata['version']}"
            text = absolute_links(text, repository, tag)
            metadata["urls"] = {
                "Repository": repository,
                **{name: f"{repository}/blob/{tag}/{page}" for name, page in PAGES.items()},
            }
        else:
            text = without_relative_links(text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
