"""How many tokens a model endpoint says that a call has cost.

>>> reported_tokens(b'{"usage": {"input_tokens": 3, "output_tokens": 4}}')
7
"""

import json
from typing import Any, cast


def reported_tokens(answer: bytes) -> int:
    """Find the usage that the endpoint reports, in one document or in a stream of events."""
    lines = answer.splitlines() if answer.lstrip().startswith((b"data:", b"event:")) else [answer]
    seen: dict[str, int] = {}
    for line in lines:
        for name, count in _usage(line.removeprefix(b"data:")).items():
            seen[name] = max(seen.get(name, 0), count)
    total = seen.pop("total_tokens", 0)
    return max(total, sum(seen.values()))


def _usage(text: bytes) -> dict[str, int]:
    document = _object(text)
    holders = [document, *(document.get(key) for key in ("message", "response"))]
    found: dict[str, int] = {}
    for holder in holders:
        usage = cast("dict[str, Any]", holder).get("usage") if isinstance(holder, dict) else None
        if isinstance(usage, dict):
            counts = cast("dict[str, Any]", usage).items()
            found |= {n: c for n, c in counts if n.endswith("_tokens") and isinstance(c, int)}
    return found


def _object(text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", document) if isinstance(document, dict) else {}
