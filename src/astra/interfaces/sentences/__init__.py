"""A record of the ledger as one sentence about this event, for every door that shows records.

The daemon sends it with each record, the page and the terminal show it. It says what happened this
time, with its numbers; a record that lacks a member still has a sentence, and an event that nobody
words is named by its type. Texts of an agent are quoted, escaped and cut.

>>> describe_record("tests_passed", {"report": {"verdict": "passed", "passed": 13, "failed": 0}})
'tests passed: 13 of 13'
>>> describe_record("moon_landed", {})
'moon landed'
"""

from collections.abc import Callable, Mapping
from typing import Any

from astra.interfaces.sentences import of_plans, of_records, of_work
from astra.trusted.kernel.text import one_line

MOST_CHARACTERS = 400
SAYINGS: Mapping[str, Callable[[dict[str, Any]], str]] = {
    **of_records.SAYINGS,
    **of_work.SAYINGS,
    **of_plans.SAYINGS,
}


def describe_record(event_type: str, data: dict[str, Any]) -> str:
    """Say what a record records."""
    plain_name = one_line(event_type.replace("_", " "), MOST_CHARACTERS)
    describe = SAYINGS.get(event_type)
    if describe is None:
        return of_records.CONSTANT_SENTENCES.get(event_type, plain_name)
    try:
        return one_line(describe(data), MOST_CHARACTERS)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        # An older record, or one of another shape, is told by its type rather than not at all.
        return plain_name
