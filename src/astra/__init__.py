"""Astra: an agent changes its own source code, under a contract a human signed."""

__version__ = "0.1.0"
