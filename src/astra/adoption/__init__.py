"""Adopting a repository: what its files say about how it is tested and run. Pure; nothing runs."""
