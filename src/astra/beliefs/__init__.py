"""Beliefs: what the record says about tests, folders, methods, tools and schedules, in numbers."""
