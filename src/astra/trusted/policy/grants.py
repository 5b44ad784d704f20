"""Path grants: what a person allowed, matched exactly and fast.

A grant is a path (that file, or that folder and everything below it) or a precise glob. Relative
grants speak of paths inside the target, absolute ones of the machine; neither matches the other.
A glob is never widened to its folder. Refused from the start: the root, home, anything above home,
bare wildcards, secrets, and whatever reaches a protected place. A secret below a granted folder,
and a watched name below a folder granted for writing, stay closed. No grant, no access.

Matching looks the path up in a hash table, then each of its ancestors, so it costs the same with
ten grants and with a million.

>>> places = GrantPlaces(home="/home/ada", protected=ProtectedPlaces(hidden=frozenset()))
>>> grants = compile_grants(GrantKind.READ_PATHS, ["docs/*.md", "/data/reports"], places=places)
>>> asked = ("docs/a.md", "docs/secrets.key", "docs/sub/a.md")
>>> [grants.allows(paths.parse_relative(text)) for text in asked]
[True, False, False]
>>> grants.allows(paths.parse_absolute("/data/reports/2026/may.csv"))
True
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

from astra.trusted.kernel.errors import Refused
from astra.trusted.policy import globs, paths
from astra.trusted.policy.globs import Glob, GlobRefused
from astra.trusted.policy.paths import AnyPath, PathRefused, quote
from astra.trusted.policy.protected import ProtectedPlaces
from astra.trusted.policy.secrets import SecretRules


class GrantKind(StrEnum):
    READ_PATHS = "read_paths"
    WRITE_PATHS = "write_paths"


class GrantProblem(StrEnum):
    BAD_PATH = "grant_bad_path"
    TOO_BROAD = "grant_too_broad"
    SECRET = "grant_secret"  # noqa: S105 - a reason code, not a password
    PROTECTED = "grant_protected"


class GrantRefused(Refused):
    """A grant that may not exist; `problem` says why, from a closed list."""

    def __init__(self, problem: GrantProblem, detail: str, *, next_step: str) -> None:
        super().__init__(detail, next_step=next_step, code=problem.value)
        self.problem = problem


@dataclass(frozen=True, kw_only=True)
class GrantPlaces:
    """What a grant is judged against."""

    home: str
    protected: ProtectedPlaces
    secrets: SecretRules = field(default_factory=SecretRules)


@dataclass(frozen=True, slots=True)
class PathGrant:
    """One grant that passed every check."""

    kind: GrantKind
    text: str
    glob: Glob | None


def check_grant(kind: GrantKind, text: str, *, places: GrantPlaces) -> PathGrant:
    """Accept a grant as written, or refuse it with a reason."""
    grant = _parse_grant(kind, text)
    _refuse_breadth(grant, places.home)
    _refuse_secret(grant, places.secrets)
    _refuse_protected(grant, places.protected)
    return grant


def compile_grants(kind: GrantKind, texts: Iterable[str], *, places: GrantPlaces) -> "PathGrants":
    """Check every grant and build the lookup; one bad grant refuses them all."""
    return PathGrants(
        kind=kind,
        grants=tuple(check_grant(kind, text, places=places) for text in texts),
        places=places,
    )


@dataclass(frozen=True, kw_only=True)
class PathGrants:
    kind: GrantKind
    grants: tuple[PathGrant, ...]
    places: GrantPlaces
    _paths: frozenset[str] = field(init=False, repr=False, compare=False)
    _folders: frozenset[str] = field(init=False, repr=False, compare=False)
    _globs: dict[tuple[str, str | None], tuple[Glob, ...]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        plain = frozenset(grant.text for grant in self.grants if grant.glob is None)
        all_globs = [grant.glob for grant in self.grants if grant.glob is not None]
        whole_folders = {glob.folder for glob in all_globs if _is_whole_folder(glob)}
        partial_globs = [glob for glob in all_globs if not _is_whole_folder(glob)]
        object.__setattr__(self, "_paths", plain)
        object.__setattr__(self, "_folders", plain | whole_folders)
        object.__setattr__(self, "_globs", _by_folder_and_extension(partial_globs))

    def allows(self, path: AnyPath) -> bool:
        text = path.text
        return self._is_granted(text) and not self._is_closed(text)

    def _is_granted(self, text: str) -> bool:
        if text in self._paths:
            return True
        folder, folders = text, self._folders
        while (slash_index := folder.rfind("/")) > 0:
            folder = folder[:slash_index]
            if folder in folders:
                return True
        return bool(self._globs) and self._glob_matches(text)

    def _glob_matches(self, text: str) -> bool:
        """Try the globs of each folder above: those that fix an extension, and those that do not.

        The extension keeps a folder with a thousand globs as quick as a folder with one.
        """
        by_folder = self._globs
        folder, slash, name = text.rpartition("/")
        extension = name.rpartition(".")[2] if "." in name else None
        while folder or not slash:
            for key in ((folder, extension), (folder, None)):
                for glob in by_folder.get(key, ()):
                    if glob.pattern.fullmatch(text):
                        return True
            if not folder:
                return False
            folder, slash, _ = folder.rpartition("/")
        return False

    def _is_closed(self, text: str) -> bool:
        """Keep secrets and, for writing, watched names out of even a granted folder."""
        if self.places.secrets.rule_for(text) is not None:
            return True
        if self.kind is GrantKind.WRITE_PATHS:
            return self.places.protected.watched_name(text) is not None
        return False


def _by_folder_and_extension(
    written: Iterable[Glob],
) -> dict[tuple[str, str | None], tuple[Glob, ...]]:
    globs_by_key: defaultdict[tuple[str, str | None], list[Glob]] = defaultdict(list)
    for glob in written:
        globs_by_key[glob.folder, glob.extension].append(glob)
    return {key: tuple(same) for key, same in globs_by_key.items()}


def _is_whole_folder(glob: Glob) -> bool:
    return glob.segments[-1] == "**" and not any(map(globs.has_wildcard, glob.segments[:-1]))


def _parse_grant(kind: GrantKind, text: str) -> PathGrant:
    if text.strip() in {"", ".", "/", "~", "~/"}:
        _refuse_grant(GrantProblem.TOO_BROAD, text, "it names no place in particular")
    try:
        if globs.has_wildcard(text):
            glob = globs.parse_glob(text)
            return PathGrant(kind=kind, text=glob.text, glob=glob)
        clean = paths.parse_absolute(text) if text.startswith("/") else paths.parse_relative(text)
    except (PathRefused, GlobRefused) as error:
        raise GrantRefused(
            GrantProblem.BAD_PATH,
            f"{kind} {quote(text)} is not a path that can be granted: {error.detail}",
            next_step=error.next_step,
        ) from None
    return PathGrant(kind=kind, text=clean.text, glob=None)


def _refuse_breadth(grant: PathGrant, home: str) -> None:
    if grant.glob is None:
        if _is_home_or_above(grant.text, home):
            _refuse_grant(GrantProblem.TOO_BROAD, grant.text, "it covers a whole home folder")
        return
    folder = grant.glob.folder
    tail_segments = grant.glob.segments[folder.strip("/").count("/") + bool(folder.strip("/")) :]
    if not _is_wide(folder, home):
        return
    if folder == "/" or all(set(segment) <= set("*?") for segment in tail_segments):
        _refuse_grant(
            GrantProblem.TOO_BROAD, grant.text, "its wildcards stand for everything there"
        )
    if grant.glob.absolute and ("**" in tail_segments or len(tail_segments) > 1):
        _refuse_grant(GrantProblem.TOO_BROAD, grant.text, "it reaches through a whole home folder")


def _is_wide(folder: str, home: str) -> bool:
    return folder in {"", "/"} or _is_home_or_above(folder, home)


def _is_home_or_above(text: str, home: str) -> bool:
    """Say whether a folder is home, holds it, or is where a machine keeps its homes."""
    if not text.startswith("/"):
        return False
    folded, folded_home = paths.fold(text), paths.fold(home).rstrip("/")
    if f"{folded_home}/".startswith(f"{folded}/") or folded in {"/home", "/users", "/root"}:
        return True
    parent, _, name = folded.rpartition("/")
    return parent in {"/home", "/users"} and bool(name)


def _refuse_secret(grant: PathGrant, rules: SecretRules) -> None:
    """Refuse a grant that spells a secret; a wildcard never makes up for the rest of a name."""
    spelled = grant.text.replace("**", "x").replace("*", "x").replace("?", "x")
    for text in (grant.text, spelled):
        if rule := rules.rule_for(text):
            _refuse_grant(GrantProblem.SECRET, grant.text, f"it names a secret ({rule})")


def _refuse_protected(grant: PathGrant, protected: ProtectedPlaces) -> None:
    write = grant.kind is GrantKind.WRITE_PATHS
    if grant.glob is None:
        place = protected.place_of(grant.text, write=write) or protected.find_place_below(
            grant.text, write=write
        )
    else:
        place = protected.find_place_reached(grant.glob, write=write)
    if place is not None:
        _refuse_grant(GrantProblem.PROTECTED, grant.text, f"it reaches the protected place {place}")
    if write and (name := protected.watched_name(grant.text)):
        _refuse_grant(GrantProblem.PROTECTED, grant.text, f"{name} changes only with consent to it")


_NEXT_STEPS = {
    GrantProblem.BAD_PATH: "give one file, one folder, or a glob such as docs/*.md",
    GrantProblem.TOO_BROAD: "name the folder or the files that are needed, such as docs/*.md",
    GrantProblem.SECRET: "leave it out; secrets reach an app through the signed configuration",
    GrantProblem.PROTECTED: "choose a folder without files of Astra, the system or CI",
}


def _refuse_grant(problem: GrantProblem, text: str, why: str) -> NoReturn:
    raise GrantRefused(
        problem, f"{quote(text)} cannot be granted: {why}", next_step=_NEXT_STEPS[problem]
    )
