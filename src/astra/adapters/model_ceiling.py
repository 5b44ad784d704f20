"""Bounds what one model call may answer, in the shapes of OpenAI and Anthropic.

A call that names a ceiling keeps it, or gets what is left. One that names none gets half of what is
left, so that several at once have room and together never more than there is.

>>> payload = {"max_tokens": 5000, "n": 2}
>>> bound("/chat/completions", payload, left=1000), payload["max_tokens"]
(1000, 500)
"""

from typing import Any

_NAMES = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_NAME_OF = {
    "/chat/completions": "max_completion_tokens",
    "/completions": "max_tokens",
    "/messages": "max_tokens",
    "/responses": "max_output_tokens",
}
_MULTIPLIERS = ("n", "best_of")


def bound(path: str, payload: dict[str, Any], left: int) -> int:
    """Write ceilings into a payload; give how many tokens the answers may have in all."""
    if path not in _NAME_OF:
        return 0
    for name in (name for name in _MULTIPLIERS if name in payload):
        payload[name] = min(_count(payload[name]) or 1, left)
    answers = max(payload.get(name, 1) for name in _MULTIPLIERS)
    share = max(1, left // answers)
    named = [name for name in _NAMES if payload.get(name) is not None]
    if not named:
        payload[_NAME_OF[path]] = max(1, share // 2)
        return payload[_NAME_OF[path]] * answers
    for name in named:
        payload[name] = min(_count(payload[name]) or share, share)
    return max(payload[name] for name in named) * answers


def _count(value: Any) -> int:
    """Give a whole positive number, or 0 for whatever else a client may have written."""
    return value if type(value) is int and value > 0 else 0
