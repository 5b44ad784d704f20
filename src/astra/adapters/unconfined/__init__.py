"""Runs a command as a plain process, for machines on which no box holds: `off-unsafe`.

Nothing is hidden from it and nothing is out of its reach but what its uid may not touch. What is
left: limits, a clock, a cap on output, and an end that stop can reach as far as the kernel helps.
"""
