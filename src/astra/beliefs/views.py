"""A belief looked at closely: how it came to be what it is, and what contradicts it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from astra.beliefs.book import MOST_EVIDENCE, Beliefs
from astra.beliefs.claims import TOP, ScopeKind, belief_id, contains_scope, list_folders
from astra.beliefs.model import Belief, Evidence, Standing
from astra.beliefs.tables import scale_of
from astra.trusted.kernel.errors import NotFound

LONGEST_HISTORY = 90
_MOST_RELATED = 50
Sums = dict[tuple[str, int], float]
_OPPOSITES = {str(Standing.HELD): str(Standing.DOUBTED), str(Standing.DOUBTED): str(Standing.HELD)}


@dataclass(frozen=True)
class BeliefViews:
    book: Beliefs

    def describe(self, identifier: str, *, days: int = LONGEST_HISTORY) -> dict[str, Any]:
        """Give a belief with its evidence, its history by days, its conflicts and what was said."""
        belief = self.book.get(identifier)
        evidence = self.book.list_evidence(belief.id, limit=MOST_EVIDENCE)
        return {
            **belief.as_dict([]),
            "evidence": [self._describe_evidence(item) for item in evidence],
            "history": list(self._list_days(belief, days)),
            "conflicts": [_describe_brief(conflict) for conflict in self.find_conflicts(belief)],
            "statements": self.book.list_statements(belief.id),
        }

    def _describe_evidence(self, evidence: Evidence) -> dict[str, Any]:
        """Give a piece of evidence with the record it is, and the story of that record."""
        record = self.book.ledger.record(evidence.sequence)
        fields = {"type": record.type, "story": record.correlation} if record else {}
        return {**evidence.as_dict(), **fields}

    def list_page(self, *, scope: str | None = None, **options: Any) -> dict[str, Any]:
        """Give a page of beliefs; those about one scope are few, and come whole."""
        if scope is not None:
            beliefs, cursor = self.book.find_about(scope), None
        else:
            beliefs, cursor = self.book.list_beliefs(**options)
        items = [belief.as_dict(self.book.list_evidence(belief.id)) for belief in beliefs]
        return {"items": items, "next": cursor}

    def find_conflicts(self, belief: Belief) -> list[Belief]:
        """Name beliefs of a wider or narrower scope that say the opposite."""
        opposite = _OPPOSITES.get(belief.state)
        related = self._list_related(belief) if opposite else ()
        return [candidate for candidate in related if candidate.state == opposite]

    def _list_related(self, belief: Belief) -> Iterator[Belief]:
        identifiers = [
            belief_id(claim, belief.scope["kind"], scope) for claim, scope in _name_wider(belief)
        ]
        identifiers += self._list_narrower(belief)
        for identifier in identifiers:
            try:
                yield self.book.get(identifier)
            except NotFound:
                continue  # nothing was ever counted for it

    def _list_narrower(self, belief: Belief) -> list[str]:
        scope = belief.scope["value"]
        if belief.scope["kind"] != ScopeKind.PATH:
            return []
        rows = self.book.ledger.query(
            "SELECT id, scope FROM belief WHERE claim = ? AND scope > ? AND scope < ? LIMIT ?",
            [belief.claim, f"{scope}/", f"{scope}0", _MOST_RELATED],
        )
        return [identifier for identifier, narrow in rows if contains_scope(scope, narrow)]

    def _list_days(self, belief: Belief, days: int) -> Iterator[dict[str, Any]]:
        """Give the confidence at the end of each day, from the first evidence on."""
        today = self.book.now().date()
        first = today - timedelta(days=min(max(days, 1), LONGEST_HISTORY) - 1)
        sums = self._read_sums_before(belief.id, first.isoformat())
        rows = self.book.ledger.query(
            "SELECT day, kind, sign, scaled FROM belief_day WHERE belief = ? AND day >= ?"
            " ORDER BY day",
            [belief.id, first.isoformat()],
        )
        for number in range((today - first).days + 1):
            day = first + timedelta(days=number)
            sums |= _sums_of_day(rows, day.isoformat())
            if sums:
                end = datetime.combine(day, time.max, tzinfo=UTC)
                scale = scale_of(min(end, self.book.now()).timestamp())
                triples = [(kind, sign, scaled) for (kind, sign), scaled in sums.items()]
                confidence = self.book.weigh(triples, scale).as_dict()
                yield {"day": day.isoformat(), **confidence}

    def _read_sums_before(self, identifier: str, day: str) -> Sums:
        """Give the sums as they were before a day, a row for each kind of evidence."""
        kinds = self.book.ledger.query(
            "SELECT kind, sign FROM belief_sum WHERE belief = ?", [identifier]
        )
        sums: Sums = {}
        for kind, sign in kinds:
            rows = self.book.ledger.query(
                "SELECT scaled FROM belief_day WHERE belief = ? AND day < ? AND kind = ?"
                " AND sign = ? ORDER BY day DESC LIMIT 1",
                [identifier, day, kind, sign],
            )
            if rows:
                sums[kind, sign] = float(rows[0][0])
        return sums


def _sums_of_day(rows: Iterable[tuple[Any, ...]], day: str) -> Sums:
    return {(kind, sign): scaled for on, kind, sign, scaled in rows if on == day}


def _name_wider(belief: Belief) -> list[tuple[str, str]]:
    """Name the claims about what a belief's scope is part of; for a schedule, about its nights."""
    scope = belief.scope["value"]
    if belief.scope["kind"] == ScopeKind.PATH:
        return [(belief.claim, folder) for folder in list_folders(scope) if folder != TOP]
    counterpart = {"fails": "fails_at_night", "fails_at_night": "fails"}.get(belief.claim)
    return [(counterpart, scope)] if counterpart else []


def _describe_brief(belief: Belief) -> dict[str, Any]:
    return {
        "id": belief.id,
        "statement": belief.statement,
        "state": belief.state,
        **belief.confidence.as_dict(),
    }
