"""Filling in what tools need, and what the gate looks at."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import astra
from astra.adapters import operator_key
from astra.adapters.git_objects import SourceView
from astra.adapters.source_search import Pattern
from astra.kernel.errors import Refused
from astra.policy.call import Call
from astra.policy.grants import GrantKind, GrantPlaces, PathGrants, compile_grants
from astra.policy.paths import parse_absolute
from astra.policy.protected import protected_places
from astra.tools import desk, later, persona, source
from astra.tools.registry import Registry


def make_registry() -> Registry:
    return Registry((*source.TOOLS, *persona.TOOLS, *desk.TOOLS, *later.TOOLS))


class Source(SourceView):
    """The source view as the tools call it: a pattern in words instead of an object."""

    def find(self, text: str, *, regex: bool, ignore_case: bool, **where: Any) -> Any:
        return self.search(Pattern(text=text, regex=regex, ignore_case=ignore_case), **where)


def own_grants(data_root: Path, writable: Sequence[Path]) -> PathGrants:
    """Give what every agent may write without asking: its own folders, and nothing else."""
    home = str(Path.home())
    places = GrantPlaces(
        home=home,
        protected=protected_places(
            data_root=str(data_root),
            home=home,
            others=[str(Path(astra.__file__).parent), str(operator_key.folder())],
        ),
    )
    return compile_grants(GrantKind.WRITE_PATHS, [str(path) for path in writable], places=places)


def outside(grants: PathGrants) -> Callable[[Call], str]:
    """Name the first path of a call that its grants do not cover, or nothing."""

    def check(call: Call) -> str:
        for text in call.footprint.write_paths:
            try:
                covered = grants.allows(parse_absolute(text))
            except Refused:
                covered = False
            if not covered:
                return text
        return ""

    return check


def on(flags: Mapping[str, Any]) -> dict[str, bool]:
    return {name: flag.on for name, flag in flags.items()}
