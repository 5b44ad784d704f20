"""The tools: one registry behind every door, one short module a family."""
