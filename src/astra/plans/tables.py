"""The tables that plans are projected into: each plan, its steps, its messages."""

TABLES = (
    """CREATE TABLE plan (
        id TEXT PRIMARY KEY, state TEXT, reason TEXT DEFAULT '', detail TEXT DEFAULT '',
        description TEXT, channels TEXT, plan TEXT, plan_hash TEXT, grants TEXT, grants_hash TEXT,
        approval TEXT, exported TEXT, questions TEXT DEFAULT '[]', round INTEGER DEFAULT 0,
        block TEXT, checkpoint INTEGER DEFAULT -1, done INTEGER DEFAULT 0,
        steps INTEGER DEFAULT 0, spent INTEGER DEFAULT 0, extra INTEGER DEFAULT 0,
        failures INTEGER DEFAULT 0, due TEXT, calls INTEGER DEFAULT 0,
        tokens INTEGER DEFAULT 0, silenced INTEGER DEFAULT 0, overran INTEGER DEFAULT 0,
        notified INTEGER DEFAULT 0, last_sent INTEGER DEFAULT 0, correlation TEXT,
        created_at TEXT, updated_at TEXT,
        approved_at TEXT, started_at TEXT, sequence INTEGER
    ) WITHOUT ROWID""",
    "CREATE INDEX plan_state ON plan (state, sequence)",
    "CREATE INDEX plan_order ON plan (sequence)",
    "CREATE INDEX plan_unannounced ON plan (id) WHERE last_sent > notified",
    """CREATE TABLE plan_step (
        plan TEXT, step INTEGER, checkpoint INTEGER, state TEXT, action TEXT, digest TEXT,
        destructive INTEGER, allowed TEXT, confirmed INTEGER, again INTEGER, outcome TEXT,
        result TEXT, started_at TEXT, ended_at TEXT, tokens INTEGER DEFAULT 0,
        PRIMARY KEY (plan, step)
    ) WITHOUT ROWID""",
    """CREATE TABLE plan_message (
        sequence INTEGER PRIMARY KEY, plan TEXT, direction TEXT, kind TEXT, text TEXT,
        time TEXT, step INTEGER
    )""",
    "CREATE INDEX plan_message_plan ON plan_message (plan, sequence)",
)
