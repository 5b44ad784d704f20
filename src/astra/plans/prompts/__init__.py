"""The words a model is given, as versioned files; each record names the version that was used.

Whatever else a model reads is somebody's text. It is passed as data, between marks that carry a
hash of the text itself, so that no text can end its own quotation.

>>> print(untrusted("note", "hello"))
<<<UNTRUSTED note 2cf24dba5fb0a30e
hello
2cf24dba5fb0a30e UNTRUSTED>>>
"""

import hashlib
from functools import cache
from importlib import resources

DIGEST = "what happened lately"
DRAFTING, WORKING, CODING = "drafting-2", "working-1", "coding-1"
DECOMPOSING = "decomposing-1"
PLACING, REWRITING = "placing-2", "rewriting-1"
REPLACING, DIFFING = "replacing-1", "diffing-1"


@cache
def rules(version: str) -> str:
    return resources.files(__name__).joinpath(f"{version}.md").read_text(encoding="utf-8")


def list_optional(name: str, text: str) -> tuple[str, ...]:
    """Delimit data where there is any."""
    return (untrusted(name, text),) if text else ()


def untrusted(name: str, text: str) -> str:
    """Delimit data that a model must not take for instructions."""
    clean = text.encode("utf-8", errors="replace").decode()
    mark = hashlib.sha256(clean.encode()).hexdigest()[:16]
    return f"<<<UNTRUSTED {name} {mark}\n{clean}\n{mark} UNTRUSTED>>>"
