"""The words a model is given in research, as versioned files; records name the version."""

from functools import cache
from importlib import resources

READING, ORDERING = "reading-1", "ordering-1"


@cache
def rules(version: str) -> str:
    return resources.files(__name__).joinpath(f"{version}.md").read_text(encoding="utf-8")
