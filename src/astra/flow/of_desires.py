"""What desires make due: the next survey, while there is anything to survey."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from astra.desires import idle
from astra.desires import views as desires
from astra.flow import rows
from astra.flow.due import QUICK
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Record

_ALL_DESIRES = "desires"


def _insert_survey(record: Record) -> Iterator[Statement]:
    yield (
        (
            "INSERT INTO due_step VALUES (?, 'survey', ?, ?, NULL)"
            " ON CONFLICT (subject, step) DO NOTHING"
        ),
        (_ALL_DESIRES, idle.next_hour(record.time), QUICK),
    )


def _reschedule_survey(record: Record) -> Iterator[Statement]:
    if record.data["top"]:
        due = record.data.get("next") or idle.next_hour(record.data["hour"])
        yield "UPDATE due_step SET due = ? WHERE subject = ?", (due, _ALL_DESIRES)
    else:
        yield "DELETE FROM due_step WHERE subject = ?", (_ALL_DESIRES,)


EFFECTS: Mapping[str, rows.Effect] = MappingProxyType(
    {
        desires.RECORDED: _insert_survey,
        desires.REINFORCED: _insert_survey,
        idle.SURVEYED: _reschedule_survey,
    }
)
