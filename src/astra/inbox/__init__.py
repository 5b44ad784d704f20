"""Everything that waits for a person, as one list."""
