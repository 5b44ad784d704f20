"""Gets everything ready that a box is made of: descriptors opened, places looked through, data.

As root it has to run in a thread that may take its own mounts (see `threshold`), because the
granted places are staged for the uid of the boxes.
"""

import contextlib
import os
import stat
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from astra.trusted.egress.egress_proxy import NoteSecret, ignore_secret
from astra.trusted.egress.secured_request import SecretHeader
from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy.manifest import Manifest, check, is_within, normalise_path
from astra.trusted.sandbox import boxes, grants, landlock, machine, staging, workspace
from astra.trusted.sandbox.grants import NOTHING_SHOWN, Inspection, UnsafeGrant, Withholding
from astra.trusted.sandbox.machine import Machine
from astra.trusted.sandbox.ports import OnStarted, Workspace
from astra.trusted.sandbox.profile import NAME_FILES, SCRATCH, Cover, Profile, compile_profile
from astra.trusted.sandbox.toolchain import NO_TOOLCHAIN, Toolchain

_WRITE_BITS = {"owner": stat.S_IWUSR, "group": stat.S_IWGRP, "others": stat.S_IWOTH}


@dataclass(frozen=True, kw_only=True)
class Box:
    """What to run, and all that it may touch.

    `protected` are the places that no grant may touch; `homes` are the home folders of this
    machine unless a test names others. `host_network` and `inherited` descriptors are for the
    deployed app, on the operator's signed word, and for nothing else; on the host's network it
    binds `bind_ports` and no other, where the kernel has rules for that. One that runs
    `on_low_disk` is not ended because the disk is almost full: a rollback needs it.
    """

    command: tuple[str, ...]
    manifest: Manifest = field(default_factory=Manifest)
    workdir: str | None = None
    toolchain: Toolchain = NO_TOOLCHAIN
    protected: tuple[str, ...] = ()
    homes: tuple[str, ...] | None = None
    kind: str = boxes.RUN
    label: str = ""
    workspace: Workspace | None = None
    host_network: bool = False
    inherited: tuple[int, ...] = ()
    bind_ports: tuple[int, ...] = (landlock.ANY_FREE_PORT,)
    on_low_disk: bool = False
    withholding: Withholding = NOTHING_SHOWN
    on_started: OnStarted | None = None
    secrets: tuple[SecretHeader, ...] = ()
    note_secret: NoteSecret = ignore_secret


@dataclass(frozen=True, kw_only=True)
class Prepared:
    profile: Profile
    sources: dict[str, int | str]
    writable: tuple[int, ...]
    found: Inspection
    in_memory: tuple[str, ...] = ()
    """Places in the box whose files are memory."""
    has_input: bool = False
    """The command is spoken to; otherwise its standard input is empty."""


def prepare(box: Box, stack: contextlib.ExitStack, *, counted: bool = False) -> Prepared:
    host = machine.inspect_machine()
    homes = machine.home_folders() if box.homes is None else box.homes
    manifest = check(box.manifest, protected=box.protected, homes=homes)
    _check_words(box)
    if host.identity.dropped:
        staging.take_own_mounts()
    descriptors = _open_all((*manifest.read_paths, *manifest.write_paths), stack)
    inspection = _inspect_grants(manifest, descriptors, host, box.withholding)
    guarded = _find_guarded_git(manifest)
    descriptors |= _open_all((*box.toolchain.read_paths, *guarded), stack)
    profile = compile_profile(
        manifest,
        command=box.command,
        machine=host,
        toolchain=box.toolchain,
        workdir=box.workdir,
        covers=(*_cover_protected(box, host), *inspection.covers),
        guarded=guarded,
        workspace=box.workspace.place if box.workspace else None,
        host_names=_host_names() if box.host_network else None,
        inherited=box.inherited,
        counted=counted,
        bind_ports=box.bind_ports,
    )
    sources: dict[str, int | str] = {**descriptors}
    if host.identity.dropped:
        sources = {**staging.stage(descriptors)}
    writable = tuple(descriptors[path] for path in manifest.write_paths)
    in_memory = tuple(path for path in SCRATCH if path not in descriptors)
    if box.workspace is not None:
        ready = workspace.set_up(box.workspace, stack)
        sources[box.workspace.place] = ready.source
        writable += _watch_workspace(ready, inspection)
        in_memory += () if ready.filling is not None else (box.workspace.place,)
    return Prepared(
        profile=profile,
        sources=sources,
        writable=writable,
        found=inspection,
        in_memory=in_memory,
        has_input=box.on_started is not None,
    )


def _host_names() -> dict[str, str]:
    """Read how the host resolves names; what is not there stays as every box has it."""
    file_texts: dict[str, str] = {}
    for name in NAME_FILES:
        with contextlib.suppress(OSError):
            file_texts[name] = Path(name).read_text(encoding="utf-8", errors="replace")
    return file_texts


def _check_words(box: Box) -> None:
    """Refuse what would be read as something else on the way to bwrap."""
    if not box.command or any("\0" in word for word in box.command):
        raise BadInput("a box needs a command without NUL", next_step="name a program")
    if box.workdir is not None:
        normalise_path(box.workdir)
    for path in box.toolchain.read_paths:
        if any(is_within(path, place) for place in box.protected):
            raise UnsafeGrant(
                f"the toolchain {path} lies in a protected place",
                next_step="give the target an environment of its own",
                path=path,
            )


def _inspect_grants(
    manifest: Manifest, opened: dict[str, int], host: Machine, withholding: Withholding
) -> Inspection:
    inspection = Inspection()
    readable = Inspection(covers=inspection.covers)
    look = partial(grants.inspect, withholding=withholding)
    for path in manifest.write_paths:
        _refuse_unwritable(path, opened[path], host)
        look(opened[path], path, writable=True, found=inspection)
    for path in manifest.read_paths:
        if path not in manifest.write_paths:
            look(opened[path], path, writable=False, found=readable)
    grants.refuse_outside_links(inspection)
    inspection.covers[:] = _drop_nested_covers(inspection.covers)
    return inspection


def _drop_nested_covers(covers: list[Cover]) -> list[Cover]:
    """Leave out what lies in a covered folder: there is nothing there any more to cover."""
    folders = [cover.path for cover in covers if cover.folder]
    return [
        cover
        for cover in dict.fromkeys(covers)
        if not any(cover.path != path and is_within(cover.path, path) for path in folders)
    ]


def _refuse_unwritable(path: str, descriptor: int, host: Machine) -> None:
    """Say early that a box could not write where it may: as root it has another uid than Astra."""
    facts, identity = os.fstat(descriptor), host.identity
    who = "others"
    if facts.st_uid == identity.uid:
        who = "owner"
    elif facts.st_gid == identity.gid:
        who = "group"
    if identity.dropped and not facts.st_mode & _WRITE_BITS[who]:
        raise UnsafeGrant(
            f"{path} belongs to another user than the boxes (uid {identity.uid})",
            next_step=f"chown -R {identity.uid}:{identity.gid} {path}",
            path=path,
        )


def _find_guarded_git(manifest: Manifest) -> tuple[str, ...]:
    """List the `.git` of each writable folder that is not granted itself."""
    places = (f"{path.rstrip('/')}/.git" for path in manifest.write_paths)
    return tuple(
        place for place in places if place not in manifest.write_paths and os.path.lexists(place)
    )


def _watch_workspace(ready: workspace.Ready, found: Inspection) -> tuple[int, ...]:
    """Watch a workspace that lies on the disk, from the size it has now."""
    if ready.filling is None:
        return ()
    size, entries = grants.measure(ready.filling)
    found.size += size
    found.entries += entries
    return (ready.filling,)


def _cover_protected(box: Box, host: Machine) -> tuple[Cover, ...]:
    """Cover protected places that lie inside what every box sees, such as an Astra below /usr."""
    visible_places = (*host.folders, *host.etc, *box.toolchain.read_paths)
    return tuple(
        Cover(path=place, folder=Path(place).is_dir())
        for place in box.protected
        if any(is_within(place, folder) for folder in visible_places) and os.path.lexists(place)
    )


def _open_all(paths: tuple[str, ...], stack: contextlib.ExitStack) -> dict[str, int]:
    descriptors: dict[str, int] = {}
    for path in dict.fromkeys(paths):
        descriptors[path] = grants.open_grant(path)
        stack.callback(os.close, descriptors[path])
    return descriptors
