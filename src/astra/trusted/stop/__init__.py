"""Ends every process the agent started, and proves it."""
