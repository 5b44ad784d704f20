"""Commits that people made elsewhere, on their way into the trusted branch by signature."""
