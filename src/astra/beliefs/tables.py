"""The tables of beliefs, and the one statement that counts a piece of evidence.

Nothing but outcomes writes evidence: a proposal has a table of its own, and no statement leads from
it to a number. A trigger keeps the sums, so that a row of evidence and its weight cannot part.

A sum is kept as if no time had passed since `EPOCH`: evidence of the moment t adds 2 ** ((t -
EPOCH) / half-life), and whoever reads divides by the same power of now. Reading is exact, whatever
number of rows the sum has, and nothing is ever written again because time went by.
"""

from datetime import UTC, datetime

from astra.trusted.ledger.projection import Statement

HALF_LIFE_DAYS = 30.0
_HALF_LIFE = HALF_LIFE_DAYS * 86_400.0
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC).timestamp()

TABLES = (
    """CREATE TABLE belief (
        id TEXT PRIMARY KEY, claim TEXT, scope_kind TEXT, scope TEXT, formed INTEGER,
        changed INTEGER, proposed INTEGER, deprecated INTEGER, reason TEXT, standing TEXT
    ) WITHOUT ROWID""",
    "CREATE INDEX belief_changed ON belief (changed)",
    "CREATE INDEX belief_proposed ON belief (proposed)",
    "CREATE INDEX belief_claim ON belief (claim, scope)",
    """CREATE TABLE belief_link (
        subject TEXT, part TEXT, belief TEXT, PRIMARY KEY (subject, part, belief)
    ) WITHOUT ROWID""",
    """CREATE TABLE belief_evidence (
        belief TEXT, sequence INTEGER, kind TEXT, sign INTEGER, together TEXT, pool TEXT,
        day TEXT, scale REAL, PRIMARY KEY (belief, sequence)
    ) WITHOUT ROWID""",
    "CREATE INDEX belief_evidence_sequence ON belief_evidence (sequence)",
    "CREATE INDEX belief_evidence_together ON belief_evidence (belief, together)",
    "CREATE INDEX belief_evidence_pool ON belief_evidence (belief, pool)",
    """CREATE TABLE belief_sum (
        belief TEXT, kind TEXT, sign INTEGER, count INTEGER, scaled REAL,
        PRIMARY KEY (belief, kind, sign)
    ) WITHOUT ROWID""",
    """CREATE TABLE belief_day (
        belief TEXT, day TEXT, kind TEXT, sign INTEGER, scaled REAL,
        PRIMARY KEY (belief, day, kind, sign)
    ) WITHOUT ROWID""",
    """CREATE TABLE belief_statement (
        belief TEXT, sequence INTEGER, role TEXT, actor TEXT, text TEXT,
        PRIMARY KEY (belief, sequence)
    ) WITHOUT ROWID""",
    "CREATE INDEX belief_statement_role ON belief_statement (role)",
    """CREATE TRIGGER belief_evidence_counted AFTER INSERT ON belief_evidence BEGIN
        INSERT INTO belief_sum VALUES (new.belief, new.kind, new.sign, 1, new.scale)
            ON CONFLICT (belief, kind, sign) DO UPDATE SET
                count = count + 1, scaled = scaled + excluded.scaled;
        UPDATE belief SET formed = coalesce(formed, new.sequence), changed = new.sequence,
            deprecated = NULL, reason = '' WHERE id = new.belief;
        INSERT INTO belief_day
            SELECT belief, new.day, kind, sign, scaled FROM belief_sum
            WHERE belief = new.belief AND kind = new.kind AND sign = new.sign
            ON CONFLICT (belief, day, kind, sign) DO UPDATE SET scaled = excluded.scaled;
    END""",
)
REGISTER = """
    INSERT INTO belief VALUES (?, ?, ?, ?, NULL, NULL, NULL, NULL, '', '')
    ON CONFLICT (id) DO NOTHING
"""
LINK = "INSERT OR IGNORE INTO belief_link VALUES (?, ?, ?)"
_COUNT = """
    INSERT INTO belief_evidence
    SELECT link.belief, ?1, ?2, ?3, ?4, ?5, ?6, ?7 FROM belief_link AS link
    WHERE link.subject = ?8 AND link.part = ?9
        AND NOT EXISTS (SELECT 1 FROM belief_evidence AS other
            WHERE other.belief = link.belief AND other.together = ?4)
        AND NOT EXISTS (SELECT 1 FROM belief_evidence AS other
            WHERE other.belief = link.belief AND other.sequence = ?1)
        AND (SELECT count(*) FROM (SELECT 1 FROM belief_evidence AS other
            WHERE other.belief = link.belief AND other.pool = ?5 LIMIT ?10)) < ?10
"""


def scale_of(moment: float) -> float:
    """Give how much evidence of a moment counts, on the scale that time does not touch."""
    return 2.0 ** ((moment - _EPOCH) / _HALF_LIFE)


def count_evidence(
    *,
    sequence: int,
    time: str,
    kind: str,
    sign: int,
    together: str,
    who: str,
    most_a_day: int,
    subject: str,
    part: str,
) -> Statement:
    """Count a record for every belief that is linked to its subject, each once.

    What is `together` counts once; a pool is who brought it about and the day.
    """
    scale = scale_of(datetime.fromisoformat(time).timestamp())
    day = time[:10]
    row = (sequence, kind, sign, together, f"{who}:{kind}:{day}", day, scale)
    return _COUNT, (*row, subject, part, most_a_day)
