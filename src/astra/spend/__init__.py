"""Caps on tokens and money: what model calls took, and what they may take.

`model` has the values, `caps` the rule (pure), `usage` which reports of a server are believed,
`book` reserves before a call and settles after it, `raising` asks for a higher cap, `projection`
has the tables and `views` what doors show.
"""
