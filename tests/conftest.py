"""Shared set-up: Hypothesis runs the same examples every time, so that green stays green."""

from hypothesis import settings

settings.register_profile("astra", derandomize=True, max_examples=50, deadline=None)
settings.load_profile("astra")
