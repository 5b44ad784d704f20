"""Scripted attempts to get out of a box, run for real inside the real profile.

`cases` lists them as data, with a module for each surface; `referee` tries them inside, `arena`
prepares what they are after, and `run_attacks` gives the table.
"""

from astra.adapters.bubblewrap.attacks.arena import (
    Result,
    run_app_attacks,
    run_attacks,
    run_bombs,
)

__all__ = ["Result", "run_app_attacks", "run_attacks", "run_bombs"]
