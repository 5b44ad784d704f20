"""The book of beliefs: read them, propose one, put one away. No verb here takes a number.

Invariants:
- What a belief is worth is worked out when somebody looks, from sums that time does not touch; a
  look costs the same whatever number of records it stands on.
- Weights are those of the signed configuration now, for old evidence as for new.
- A proposal names what is to be looked at. It moves nothing.

    book.list_beliefs(limit=10)
    book.get("belief_…")
    book.propose("the importer is fragile", claim="rolled_back", kind="path", scope="src/importer",
                 actor="agent:…", correlation="cor_…")
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from astra.beliefs import events
from astra.beliefs.claims import CLAIMS, belief_id, parse_name, write_statement
from astra.beliefs.model import (
    LONGEST_REASON,
    Belief,
    Confidence,
    Evidence,
    Move,
    check_statement,
)
from astra.beliefs.proposals import read_subject
from astra.beliefs.tables import scale_of
from astra.operations.caps import BELIEF_PROPOSALS
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.paging import check_page
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import current_time
from astra.trusted.settings.configuration import EvidenceWeights

_COLUMNS = "id, claim, scope_kind, scope, changed, proposed, deprecated, reason, standing"
_PROPOSED, _DEPRECATED = "proposed", "deprecated"
SHOWN_EVIDENCE, MOST_EVIDENCE, MOST_MOVES = 5, 100, 500
_MOST_STATEMENTS = 20


@dataclass(frozen=True, kw_only=True)
class Beliefs:
    ledger: Ledger
    clock: Clock
    weights: Callable[[], EvidenceWeights] = EvidenceWeights

    def list_beliefs(
        self, *, proposed: bool = False, limit: int = 20, cursor: str | None = None
    ) -> tuple[list[Belief], str | None]:
        """Give the beliefs that moved last first, or those that were only proposed."""
        before = check_page(limit, cursor)
        column = "proposed" if proposed else "changed"
        unformed = " AND changed IS NULL" if proposed else ""
        rows = self._select(
            f"{column} < ?{unformed} ORDER BY {column} DESC LIMIT ?", before, limit + 1
        )
        beliefs = [self._read_row(row) for row in rows[:limit]]
        last = rows[limit - 1] if len(rows) > limit else None
        return beliefs, str(last[5 if proposed else 4]) if last else None

    def find_about(self, scope: str) -> list[Belief]:
        """Give every belief about one folder, test, method, tool, domain or schedule."""
        rows = [
            row
            for claim in CLAIMS
            for row in self._select("claim = ? AND scope = ? AND changed IS NOT NULL", claim, scope)
        ]
        return [self._read_row(row) for row in rows]

    def get(self, identifier: str) -> Belief:
        rows = self._select("id = ? AND (changed IS NOT NULL OR proposed IS NOT NULL)", identifier)
        if not rows:
            label = identifier if is_id(identifier) else "with that id"
            raise NotFound(f"there is no belief {label}", next_step="astra beliefs list")
        return self._read_row(rows[0])

    def find_lower_bound(self, name: str) -> float:
        """Give the lower bound that a condition of a method asks for, 0 where nothing is known.

        Where several kinds of scope have the same name, the least counts.
        """
        claim, scope = parse_name(name)
        rows = self._select("claim = ? AND scope = ? AND changed IS NOT NULL", claim, scope)
        beliefs = [self._read_row(row) for row in rows]
        bounds = [b.confidence.lower for b in beliefs if b.state != _DEPRECATED]
        return min(bounds, default=0.0)

    def list_evidence(
        self, identifier: str, *, limit: int = SHOWN_EVIDENCE, before: int | None = None
    ) -> list[Evidence]:
        """Give the newest records behind a belief, with what each still weighs."""
        start = check_page(limit, before, largest=MOST_EVIDENCE)
        rows = self.ledger.query(
            "SELECT sequence, kind, sign, day, scale FROM belief_evidence"
            " WHERE belief = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?",
            [identifier, start, limit],
        )
        weights, scale = self.weights(), self._read_scale()
        return [
            Evidence(
                sequence=sequence,
                kind=kind,
                sign="for" if sign > 0 else "against",
                day=day,
                weight=getattr(weights, kind) * min(recorded / scale, 1.0),
            )
            for sequence, kind, sign, day, recorded in rows
        ]

    def list_moves(self, sequences: Sequence[int]) -> list[Move]:
        """Say which beliefs some records moved, in the order of the records."""
        rows = self.ledger.query(
            "SELECT sequence, belief, kind, sign FROM belief_evidence WHERE sequence IN"
            " (SELECT value FROM json_each(?)) ORDER BY sequence, belief LIMIT ?",
            [json.dumps(list(sequences)), MOST_MOVES],
        )
        beliefs = {row[1]: self.get(row[1]) for row in rows}
        return [
            Move(sequence, beliefs[identifier], kind, "for" if sign > 0 else "against")
            for sequence, identifier, kind, sign in rows
        ]

    def list_statements(self, identifier: str) -> list[dict[str, Any]]:
        """Give what was said about a belief, by whom; words, never numbers."""
        rows = self.ledger.query(
            "SELECT sequence, actor, text FROM belief_statement WHERE belief = ?"
            " ORDER BY sequence LIMIT ?",
            [identifier, MOST_EVIDENCE],
        )
        return [{"sequence": row[0], "actor": row[1], "text": row[2]} for row in rows]

    def has_moved_after(self, sequence: int) -> bool:
        """Tell whether evidence moved a belief behind a record."""
        return bool(self.ledger.query("SELECT 1 FROM belief WHERE changed > ? LIMIT 1", [sequence]))

    def list_moved_after(self, sequence: int, *, limit: int) -> list[Belief]:
        """Give the beliefs whose evidence moved behind a record, oldest first."""
        rows = self._select("changed > ? ORDER BY changed LIMIT ?", sequence, limit)
        return [self._read_row(row) for row in rows]

    def propose(
        self, statement: str, *, claim: str, kind: str, scope: str, actor: str, correlation: str
    ) -> Belief:
        """Keep a statement. Said again it is the same one; nothing it says is evidence."""
        text = check_statement(statement)
        subject = read_subject(claim, kind, scope, text)
        identifier = belief_id(*subject)
        statements = self.list_statements(identifier)
        if not any(item["text"] == text and item["actor"] == actor for item in statements):
            self._refuse_flood(actor, len(statements))
            fields = dict(zip(("claim", "scope_kind", "scope"), subject, strict=True))
            event = Event(
                type=events.PROPOSED,
                actor=actor,
                data={"statement": text, **fields},
                correlation=correlation,
                subject=identifier,
            )
            self.ledger.append([event])
        return self.get(identifier)

    def deprecate(self, identifier: str, reason: str, *, actor: str) -> Belief:
        """Begin a belief anew: what was counted so far counts no more."""
        belief, clean_reason = self.get(identifier), reason.strip()
        if not 1 <= len(clean_reason) <= LONGEST_REASON:
            raise BadInput(
                f"say why, in 1 to {LONGEST_REASON} characters", next_step="give a reason"
            )
        event = Event(
            type=events.DEPRECATED, actor=actor, data={"reason": clean_reason}, subject=belief.id
        )
        self.ledger.append([event])
        return self.get(identifier)

    def now(self) -> datetime:
        return current_time(self.clock.now(), self.ledger.head())

    def weigh(self, sums: Sequence[tuple[str, int, float]], scale: float) -> Confidence:
        """Put faded sums together: kind of evidence, sign, and the sum on the timeless scale."""
        weights = self.weights()
        total = {1: 0.0, -1: 0.0}
        for kind, sign, scaled in sums:
            total[sign] += getattr(weights, kind) * scaled / scale
        return Confidence(supporting=total[1], opposing=total[-1])

    def _read_row(self, row: tuple[Any, ...]) -> Belief:
        identifier, claim, kind, scope, changed, _proposed, deprecated, reason, standing = row
        scale = self._read_scale()
        rows = self.ledger.query(
            "SELECT kind, sign, count, scaled FROM belief_sum WHERE belief = ?", [identifier]
        )
        sums = [(name, sign, min(scaled, count * scale)) for name, sign, count, scaled in rows]
        confidence = self.weigh(sums, scale)
        belief = Belief(
            id=identifier,
            statement=write_statement(claim, scope) if claim in CLAIMS else scope,
            claim=claim,
            scope={"kind": kind, "value": scope if claim in CLAIMS else ""},
            state=str(confidence.standing) if changed is not None else _PROPOSED,
            confidence=confidence,
            count=sum(count for _name, _sign, count, _scaled in rows),
            changed=changed,
            reason=reason,
            recorded_standing=standing,
        )
        return replace(belief, state=_DEPRECATED) if deprecated is not None else belief

    def _refuse_flood(self, actor: str, already: int) -> None:
        """Keep what was only said readable: so much for each role, and for each belief."""
        rows = self.ledger.query(
            "SELECT count(*) FROM (SELECT 1 FROM belief_statement WHERE role = ? LIMIT ?)",
            [actor.partition(":")[0], BELIEF_PROPOSALS.most],
        )
        if int(rows[0][0]) >= BELIEF_PROPOSALS.most or already >= _MOST_STATEMENTS:
            raise BELIEF_PROPOSALS.build_error()

    def _read_scale(self) -> float:
        return scale_of(self.now().timestamp())

    def _select(self, condition: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self.ledger.query(
            f"SELECT {_COLUMNS} FROM belief WHERE {condition}",  # noqa: S608 - fixed texts
            parameters,
        )
