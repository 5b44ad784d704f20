"""The arena: attack sets of others and honest twins, run against the real doors of a real daemon.

The client obeys every attacker. The judges look at the world, never at what was answered.
"""
