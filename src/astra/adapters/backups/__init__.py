"""Copies of a data root: made while its daemon runs, and put in place again."""
