"""Numbers that a person looks at: what waits now, and what happened on each day."""
