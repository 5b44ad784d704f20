"""What runs on a clock, inside limits a human set, and why each firing did or did not."""
