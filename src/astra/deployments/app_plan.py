"""How the app is built, run and watched, read from the signed configuration."""

import shlex
from collections.abc import Callable
from pathlib import Path

from astra.deployments.plan import Plan
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.settings.configuration import Configuration


def plan_of(configuration: Configuration, root: Path) -> Plan:
    """Read from the signed configuration how the app is run."""
    app = configuration.app
    command = tuple(shlex.split(app.command))
    if not command:
        raise Refused(
            "astra.toml names no app to run",
            code="no_app",
            next_step="set command and port in [app] of astra.toml, then astra config sign",
        )
    return Plan(
        command=command,
        port=app.port,
        network=app.permissions.network,
        root=str(root),
        state=app.permissions.state_path or "app-state",
        secrets=app.permissions.secrets,
        health_path=app.probe_path,
        health_host=app.health_host,
        health_seconds=app.health_seconds,
        drain_seconds=app.drain_seconds,
        listens=app.listens,
        before_start=tuple(shlex.split(app.before_start)),
        before_start_seconds=app.before_start_seconds,
        snapshot_bytes=app.snapshot_mb << 20,
        stop_first=app.replace == "stop-first",
        parts=tuple((name, tuple(shlex.split(part.command))) for name, part in app.parts.items()),
        health_command=tuple(shlex.split(app.health_command)),
        start_seconds=app.start_seconds,
        watch_seconds=app.watch_seconds,
        keep=configuration.deploy.keep,
        reload=app.reload,
        ignored=configuration.target.test_paths,
        staging=configuration.deploy.staging,
        push=configuration.deploy.push,
        push_remote=configuration.deploy.push_remote,
        commit_checks=tuple(shlex.split(configuration.deploy.commit_checks)),
        secret_files=app.permissions.secret_files,
        state_bytes=app.permissions.state_mb << 20,
        listen_ports=app.permissions.listen_ports,
        programs=configuration.target.toolchain,
        env=tuple({**dict(configuration.target.env), **dict(app.env)}.items()),
        secret_patterns=configuration.agent.secret_patterns,
    )


def secret_filter(configuration: Configuration) -> Callable[[str], bool]:
    """Give what tells which files stay out of releases: secrets not signed for the app."""
    rules = SecretRules(patterns=configuration.agent.secret_patterns)
    allowed_files = frozenset(configuration.app.permissions.secret_files)
    return lambda path: path not in allowed_files and rules.rule_for(path) is not None


def build_steps(configuration: Configuration) -> tuple[tuple[str, ...], ...]:
    command = tuple(shlex.split(configuration.app.client_build))
    return (command,) if command else ()
