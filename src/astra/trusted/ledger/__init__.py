"""The append-only record: what a record is, how it is chained, checked and projected."""
