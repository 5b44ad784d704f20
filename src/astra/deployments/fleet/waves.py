"""Which instances are released together: every instance is in exactly one wave.

>>> plan_waves(("a", "b", "c", "d", "e"), ("1", "25%", "rest"))
(('a',), ('b', 'c'), ('d', 'e'))
>>> plan_waves(("a", "b", "c"), ("1",), away=frozenset({"a"}))
(('b',), ('c', 'a'))
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from astra.trusted.settings.fleet_settings import REST

Waves = tuple[tuple[str, ...], ...]


def plan_waves(
    instances: Sequence[str], sizes: Sequence[str], *, away: AbstractSet[str] = frozenset()
) -> Waves:
    """Cut a fleet into waves; who is away now comes last, so that the first wave proves something.

    What no size covers is one wave at the end.
    """
    remaining = sorted(instances, key=lambda label: label in away)
    waves: list[tuple[str, ...]] = []
    for size in (*sizes, REST):
        count = _count_instances(size, len(instances), len(remaining))
        waves.append(tuple(remaining[:count]))
        remaining = remaining[count:]
    return tuple(wave for wave in waves if wave)


def _count_instances(size: str, total: int, remaining: int) -> int:
    if size == REST:
        return remaining
    if size.endswith("%"):
        return -(-total * int(size[:-1]) // 100)
    return int(size)
