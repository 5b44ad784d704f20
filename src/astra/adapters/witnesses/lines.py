"""Checkpoints as lines of text, as every witness keeps them; what is read back is bounded."""

from collections.abc import Iterable, Sequence

from astra.trusted.ledger import checkpoint
from astra.trusted.ledger.checkpoint import Checkpoint

MOST_BYTES = 1 << 20
"""How much of a witness is read: its end, some thousand checkpoints."""


def write_lines(points: Iterable[Checkpoint]) -> bytes:
    return "".join(f"{point.as_line()}\n" for point in points).encode()


def read_lines(raw: bytes) -> Sequence[Checkpoint | None]:
    """Read whole lines; one that was torn at either end of what was read is left out."""
    if len(raw) >= MOST_BYTES:
        raw = raw[raw.find(b"\n") + 1 :]
    whole_lines = raw[: raw.rfind(b"\n") + 1]
    return [
        checkpoint.parse(line.decode(errors="replace")) for line in whole_lines.splitlines() if line
    ]
