"""Putting together what the agent can look at, from the signed configuration."""

from astra.adapters.agent_views import Files, Readers, Source, Views
from astra.adapters.persona_space import PersonaSpace
from astra.adapters.source_view.scoped_reads import ScopedReads
from astra.bootstrap.base import Base
from astra.trusted.files.data_root import DataRoot
from astra.trusted.files.own_places import grant_places
from astra.trusted.policy.grants import GrantKind, compile_grants
from astra.trusted.policy.reads import ReadBoundary, ReadScope, read_folders
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.settings.configuration import Configuration
from astra.trusted.settings.environment import Settings


def make_views(readers: Readers, base: Base) -> Views:
    """Make what the agent sees by the configuration in force."""
    configuration, settings = base.configuration(), base.settings
    secrets = SecretRules(patterns=configuration.agent.secret_patterns)
    scope = ReadScope(configuration.agent.read_scope)
    if settings.read_scope is not None:
        scope = scope.narrowed_to(ReadScope(settings.read_scope))
    source = Source(base.root.git, branch=base.branch, secrets=secrets, objects=readers.objects)
    persona_space = PersonaSpace(readers.persona, source=source, secrets=secrets)
    boundary = _make_boundary(base.root, settings, configuration, secrets, scope)
    files = Files(persona_space, ScopedReads(boundary, readers.machine))
    return Views(source=source, files=files, read_scope=scope)


def _make_boundary(
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
