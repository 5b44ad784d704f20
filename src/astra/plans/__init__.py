"""Plans: one contract that a person reads and signs, and the work that stays inside it."""
