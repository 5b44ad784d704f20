"""Runs the deployed app: a holder process that owns its port and its children."""
