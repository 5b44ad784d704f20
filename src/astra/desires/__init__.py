"""Desires: what the agent would like, with a strength that fades with time."""
