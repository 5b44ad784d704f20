"""Files through which other code comes in or runs by itself: dependencies, CI, hooks, builds."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, cast

from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity
from astra.trusted.policy.protected import WATCHED_NAMES

_DEPENDENCIES = re.compile(
    r"pyproject\.toml|setup\.(?:py|cfg)|(?:.*[-_.])?requirements.*\.(?:txt|in)|constraints.*\.txt"
    r"|pipfile|package\.json|cargo\.toml|go\.mod|gemfile|pom\.xml|build\.gradle(?:\.kts)?"
    r"|composer\.json|environment\.ya?ml|deno\.jsonc?"
)
_LOCKS = re.compile(
    r"poetry\.lock|uv\.lock|pdm\.lock|pipfile\.lock|package-lock\.json|npm-shrinkwrap\.json"
    r"|yarn\.lock|pnpm-lock\.ya?ml|bun\.lockb?|cargo\.lock|go\.sum|gemfile\.lock|composer\.lock"
)
_REGISTRIES = re.compile(
    r"\.npmrc|\.yarnrc(?:\.yml)?|pip\.conf|pip\.ini|\.pypirc|\.cargo|nuget\.config"
)
_CI = re.compile(
    r"\.github|\.gitlab-ci\.ya?ml|\.circleci|\.travis\.yml|azure-pipelines\.ya?ml|jenkinsfile"
    r"|\.buildkite|\.drone\.yml|bitbucket-pipelines\.yml|appveyor\.yml|\.woodpecker|\.ci"
)
_HOOKS = re.compile(
    r"\.githooks|\.husky|\.pre-commit-config\.yaml|lefthook\.ya?ml|\.envrc|\.gitattributes"
    r"|\.gitmodules|sitecustomize\.py|usercustomize\.py|.*\.pth|.*\.service|crontab"
)
_BUILDS = re.compile(
    r"dockerfile.*|.*\.dockerfile|containerfile|docker-compose.*\.ya?ml|compose\.ya?ml|makefile"
    r"|gnumakefile|.*\.mk|justfile|taskfile\.ya?ml|rakefile|cmakelists\.txt|noxfile\.py|tox\.ini"
    r"|procfile|meson\.build|build\.rs|gulpfile\..*|webpack\.config\..*|vite\.config\..*"
)
_KINDS = (
    ("dependencies-changed", Severity.WARNING, _DEPENDENCIES, "names what else is installed"),
    ("lock-changed", Severity.WARNING, _LOCKS, "decides which other code is installed"),
    ("registry-changed", Severity.DANGER, _REGISTRIES, "decides where other code comes from"),
    ("ci-changed", Severity.DANGER, _CI, "runs by itself, outside the box, with CI's secrets"),
    ("hook-changed", Severity.DANGER, _HOOKS, "can run by itself on a developer's machine"),
    ("build-changed", Severity.WARNING, _BUILDS, "runs when the project is built"),
)
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^\]]*\])?\s*([=<>!~;@ ].*)?$")
_NPM_GROUPS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_NPM_RUN = re.compile(r"(?:pre|post)?(?:install|prepare|publish|pack|uninstall)")
_DEEPEST = 32


def examine(source: Source) -> Iterator[Finding]:
    parts = source.path.lower().split("/")
    for rule, severity, shape, meaning in _KINDS:
        names = [part for part in parts if shape.fullmatch(part)]
        is_folder_rule = rule in {"ci-changed", "hook-changed", "registry-changed"}
        if names and (is_folder_rule or names[-1] == parts[-1]):
            yield source.make_finding(rule, severity, min(source.added_numbers, default=0), meaning)
    if any(part in WATCHED_NAMES for part in parts):
        yield source.make_file_finding(
            "watched-file", Severity.WARNING, 0, "is read by tools on its own"
        )
    yield from _new_dependencies(source, parts[-1])


def _new_dependencies(source: Source, name: str) -> Iterator[Finding]:
    old, new = _read_dependencies(name, source.old), _read_dependencies(name, source.new)
    for key in sorted(new.items() - old.items()):
        is_known = key[0] in old
        rule = "dependency-changed" if is_known else "dependency-added"
        message = f"{key[0]} {'is now' if is_known else 'is new:'} {key[1] or 'any version'}"
        yield source.make_finding(rule, Severity.WARNING, _line_of(source, key[0]), message)
    for script in sorted(
        _read_scripts(name, source.new).items() - _read_scripts(name, source.old).items()
    ):
        if _NPM_RUN.fullmatch(script[0]):
            message = f"the script {script[0]} runs by itself when packages are installed"
            line = _line_of(source, script[0])
            yield source.make_finding("install-script", Severity.DANGER, line, message)


def _line_of(source: Source, name: str) -> int:
    return next((n for n in sorted(source.added_numbers) if name in source.new_lines[n - 1]), 0)


def _read_dependencies(name: str, text: str | None) -> dict[str, str]:
    if not text:
        return {}
    if name in {"pyproject.toml", "cargo.toml"}:
        return _toml_dependencies(text)
    if name == "package.json":
        document = _table_or_empty(_parse_json(text))
        return {
            k: str(v)
            for group in _NPM_GROUPS
            for k, v in _table_or_empty(document.get(group)).items()
        }
    if name.endswith(".txt") and "requirements" in name:
        return dict(_parse_requirement(line) for line in text.splitlines() if _is_requirement(line))
    return {}


def _toml_dependencies(text: str) -> dict[str, str]:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    dependencies: dict[str, str] = {}
    _collect_dependencies(document, dependencies, _DEEPEST)
    return dependencies


def _collect_dependencies(table: dict[str, Any], found: dict[str, str], depth: int) -> None:
    """Gather what stands below any key that speaks of dependencies or requirements."""
    for key, value in table.items():
        speaks = "dependencies" in key or key in {"requires", "dependency-groups"}
        if speaks:
            found.update(_dependencies_from_value(value))
        elif isinstance(value, dict) and depth:
            _collect_dependencies(cast("dict[str, Any]", value), found, depth - 1)


def _dependencies_from_value(value: Any) -> dict[str, str]:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return dict(_parse_requirement(item) for item in items if isinstance(item, str))
    dependencies: dict[str, str] = {}
    for key, item in _table_or_empty(value).items():
        dependencies |= (
            _dependencies_from_value(item) if isinstance(item, list) else {key: str(item)}
        )
    return dependencies


def _is_requirement(line: str) -> bool:
    return (
        bool(line.strip()) and not line.lstrip().startswith(("#", "-")) and line[:1].strip() != ""
    )


def _parse_requirement(text: str) -> tuple[str, str]:
    match = _REQUIREMENT.match(text.rstrip("\\ ").strip())
    if match is None:
        return text.strip()[:100], ""
    return match[1].lower(), (match[3] or "").strip()


def _read_scripts(name: str, text: str | None) -> dict[str, str]:
    if name != "package.json" or not text:
        return {}
    return {
        k: str(v)
        for k, v in _table_or_empty(_table_or_empty(_parse_json(text)).get("scripts")).items()
    }


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _table_or_empty(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
