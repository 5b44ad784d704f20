"""What the agent remembers: notes and a count of its thoughts, in SQLite.

Two releases may have it open at once while one takes over from the other, so every change is a
transaction of its own.
"""

import sqlite3
from pathlib import Path


class State:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(folder / "agent.db", isolation_level=None, timeout=10)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text)")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER)"
        )

    def add_note(self, text: str) -> int:
        return int(self._database.execute("INSERT INTO note (text) VALUES (?)", [text]).lastrowid)

    def notes(self) -> list[dict[str, object]]:
        rows = self._database.execute("SELECT id, text FROM note ORDER BY id DESC LIMIT 100")
        return [{"id": identifier, "text": text} for identifier, text in rows]

    def count(self, name: str) -> int:
        """Add one to a counter and give its value."""
        rows = self._database.execute(
            "INSERT INTO counter VALUES (?, 1)"
            " ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
            [name],
        )
        return int(rows.fetchone()[0])

    def counted(self, name: str) -> int:
        row = self._database.execute("SELECT value FROM counter WHERE name = ?", [name]).fetchone()
        return int(row[0]) if row else 0

    def close(self) -> None:
        self._database.close()
