"""What the agent can look at, put together from the signed configuration.

Made anew whenever the configuration changes, so that a new secret pattern or a narrower scope bites
at the next call.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import astra
from astra.adapters.git_objects import SourceView
from astra.adapters.persona_space import PersonaFile, PersonaItem, PersonaPage, PersonaSpace
from astra.adapters.scoped_reads import ScopedReads
from astra.adapters.source_search import Pattern
from astra.trusted.files import operator_key
from astra.trusted.files.data_root import DataRoot
from astra.trusted.policy.grants import GrantKind, GrantPlaces, compile_grants
from astra.trusted.policy.protected import START_UP_FILES, protected_places
from astra.trusted.policy.reads import ReadBoundary, ReadScope, read_folders
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox import machine
from astra.trusted.settings.configuration import Configuration
from astra.trusted.settings.environment import Settings


class Source(SourceView):
    """The source view as the tools call it: a pattern in words instead of an object."""

    def find(self, text: str, *, regex: bool, ignore_case: bool, **where: Any) -> Any:
        return self.search(Pattern(text=text, regex=regex, ignore_case=ignore_case), **where)


class Files:
    """The agent's files: relative paths are its own space, absolute ones fall under the scope."""

    def __init__(self, own: PersonaSpace, scoped: ScopedReads) -> None:
        self._own = own
        self._scoped = scoped
        self.write = own.write
        self.delete = own.delete
        self.writable = own.writable

    def list(self, folder: str, *, cursor: str | None, limit: int) -> PersonaPage:
        if not folder.startswith("/"):
            return self._own.list(folder, cursor=cursor, limit=limit)
        page = self._scoped.list(folder, cursor=cursor, limit=limit)
        items = tuple(
            PersonaItem(path=f"{folder.rstrip('/')}/{item.name}", kind=item.kind, size=item.size)
            for item in page.items
        )
        return PersonaPage(folder=folder, items=items, next=page.next, commit=None)

    def read(self, path: str, **lines: Any) -> PersonaFile:
        return (self._scoped if path.startswith("/") else self._own).read(path, **lines)

    def close(self) -> None:
        self._own.close()
        self._scoped.close()


@dataclass(frozen=True, kw_only=True)
class Views:
    source: Source
    files: Files
    read_scope: ReadScope

    def close(self) -> None:
        self.files.close()
        self.source.close()


def make_views(
    root: DataRoot, settings: Settings, configuration: Configuration, branch: str
) -> Views:
    secrets = SecretRules(patterns=configuration.agent.secret_patterns)
    scope = ReadScope(configuration.agent.read_scope)
    if settings.read_scope is not None:
        scope = scope.narrowed_to(ReadScope(settings.read_scope))
    source = Source(root.git, branch=branch, secrets=secrets)
    own = PersonaSpace(root.path / "persona_space", source=source, secrets=secrets)
    boundary = _boundary(root, settings, configuration, secrets, scope)
    return Views(source=source, files=Files(own, ScopedReads(boundary)), read_scope=scope)


def grant_places(root: DataRoot, secrets: SecretRules | None = None) -> GrantPlaces:
    """Collect what no grant may touch: Astra's own files, its install, keys, start-up files."""
    home, *others = machine.own_homes() or ("/nonexistent",)
    start_up = (f"{place}/{name}" for place in others for name in START_UP_FILES)
    keys = operator_key.key_folders(root)
    places = protected_places(
        data_root=str(root.path),
        home=home,
        others=[str(Path(astra.__file__).parent), *keys, *start_up],
    )
    return GrantPlaces(home=home, protected=places, secrets=secrets or SecretRules())


def _boundary(
    root: DataRoot,
    settings: Settings,
    configuration: Configuration,
    secrets: SecretRules,
    scope: ReadScope,
) -> ReadBoundary:
    places = grant_places(root, secrets)
    granted = configuration.agent.read_paths
    return ReadBoundary(
        scope=scope,
        folders=read_folders(
            str(root.path), code_repo=str(settings.code_repo), sandbox=str(settings.sandbox_folder)
        ),
        protected=places.protected,
        grants=compile_grants(GrantKind.READ_PATHS, granted, places=places),
        secrets=secrets,
    )
