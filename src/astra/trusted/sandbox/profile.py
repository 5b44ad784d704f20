"""Compiles a checked manifest into a described box: data, which `launch` carries out.

What holds for every profile: no network but the box's own loopback, unless the operator signed
`network = "host"` for the app; a user namespace in which no
further one can be made; no capability; a read-only root that holds the system's programs, a few
files of /etc and nothing of the host's /proc, /sys or /run; granted places at their own paths,
opened beforehand and handed over as descriptors; `.git` of a writable folder read-only unless it is
granted itself; secrets and protected places inside a granted place covered.

>>> from astra.trusted.sandbox.machine import Identity, Machine
>>> machine = Machine(architecture="x86_64", bwrap="/usr/bin/bwrap",
...     links=(), folders=("/usr",), etc=(), identity=Identity(uid=1, gid=1, dropped=False))
>>> box = compile_profile(Manifest(read_paths=("/srv/in",)), command=("true",), machine=machine)
>>> spelled = render_arguments(box, {"/srv/in": 7}, dict.fromkeys(box.files, 8))
>>> "--ro-bind-fd 7 /srv/in" in " ".join(spelled)
True
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from astra.trusted.policy.domains import DomainGrant, parse_grants
from astra.trusted.policy.manifest import Manifest
from astra.trusted.sandbox import seccomp
from astra.trusted.sandbox.machine import Machine
from astra.trusted.sandbox.toolchain import NO_TOOLCHAIN, Toolchain

HOME = "/home/sandbox"
SCRATCH = ("/tmp", "/dev/shm", HOME)  # noqa: S108 - the box's own, not the host's
"""Folders in memory; where no control group counts, the watcher counts what they hold."""
USER = 1000
PROXY_PORT = 3128
_FENCE = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--disable-userns", "--assert-userns-disabled"),
    *("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
    *("--uid", str(USER), "--gid", str(USER), "--hostname", "sandbox"),
)
_FILES = {
    "/etc/passwd": f"root:x:0:0:root:/:/bin/false\nsandbox:x:{USER}:{USER}::{HOME}:/bin/sh\n"
    "nobody:x:65534:65534::/:/bin/false\n",
    "/etc/group": f"root:x:0:\nsandbox:x:{USER}:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "/etc/resolv.conf": "# names are resolved by the proxy, outside\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
"""Small files that replace the host's: nobody on the host is named in the box."""
# Read, both give zeros without end; but a shared mapping of /dev/zero is memory nobody can count,
# and /dev/full cannot be mapped.
_ZERO_WITHOUT_MEMORY = ("--dev-bind", "/dev/full", "/dev/zero")
NAME_FILES = ("/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf")
"""Of those, the ones by which names are resolved; an app on the host's network needs the host's."""


@dataclass(frozen=True, kw_only=True)
class Cover:
    """A place inside a granted one that the box sees empty."""

    path: str
    folder: bool


@dataclass(frozen=True, kw_only=True)
class Grant:
    path: str
    writable: bool


@dataclass(frozen=True, kw_only=True)
class Profile:
    machine: Machine
    manifest: Manifest
    command: tuple[str, ...]
    workdir: str
    grants: tuple[Grant, ...]
    covers: tuple[Cover, ...]
    links: tuple[tuple[str, str], ...]
    environment: Mapping[str, str]
    files: Mapping[str, str]
    seccomp: bytes
    limits: Mapping[str, tuple[int, int]]
    domains: tuple[DomainGrant, ...]
    proxied: bool
    host_network: bool = False
    inherited: tuple[int, ...] = ()
    bind_ports: tuple[int, ...] = ()
    """On the host's network, the ports that it may bind; elsewhere nobody asks."""
    counted: bool = False
    """A control group counts its memory; without one, less can be held in the first place."""


def compile_profile(
    manifest: Manifest,
    *,
    command: tuple[str, ...],
    machine: Machine,
    toolchain: Toolchain = NO_TOOLCHAIN,
    workdir: str | None = None,
    covers: tuple[Cover, ...] = (),
    guarded: tuple[str, ...] = (),
    workspace: str | None = None,
    host_names: Mapping[str, str] | None = None,
    inherited: tuple[int, ...] = (),
    counted: bool = False,
    bind_ports: tuple[int, ...] = (),
) -> Profile:
    """Describe the box.

    `guarded` are the places in writable folders that stay read-only; `workspace` is where the box
    finds files that were made for it alone. With `host_names`, the files by which the host resolves
    names, the box is on the host's network. A box that a control group counts is `counted`.
    """
    return Profile(
        machine=machine,
        manifest=manifest,
        command=command,
        workdir=workdir or workspace or (manifest.write_paths or (HOME,))[0],
        grants=_order_grants(manifest, toolchain, guarded, workspace),
        covers=covers,
        links=toolchain.links,
        environment=_build_environment(manifest, toolchain),
        files=MappingProxyType({**_FILES, **(host_names or {})}),
        seccomp=seccomp.compile_program(
            machine.architecture, counted=counted, shares_port=host_names is not None
        ),
        limits=MappingProxyType(kernel_limits(manifest)),
        domains=parse_grants(manifest.network_domains),
        proxied=_has_proxy(manifest),
        host_network=host_names is not None,
        inherited=inherited,
        counted=counted,
        bind_ports=bind_ports,
    )


def render_arguments(
    profile: Profile, opened: Mapping[str, int | str], files: Mapping[str, int]
) -> list[str]:
    """Spell the box for bwrap.

    `opened` says by which descriptor or staged path a grant comes, `files` which descriptor holds
    the bytes of a synthetic or covered file.
    """
    tail = ["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [
        *_FENCE,
        *(() if profile.host_network else ("--unshare-net",)),
        *_render_system(profile.machine),
        *(word for path in profile.files for word in _render_file(path, files)),
        *_render_scratch(profile.manifest.limits.scratch_bytes),
        *(() if profile.counted else _ZERO_WITHOUT_MEMORY),
        *(word for grant in profile.grants for word in _render_grant(grant, opened[grant.path])),
        *(word for cover in profile.covers for word in _render_cover(cover, files)),
        *(word for path, target in profile.links for word in ("--symlink", target, path)),
        *tail,
        *(word for item in profile.environment.items() for word in ("--setenv", *item)),
        *("--chdir", profile.workdir),
    ]


def _order_grants(
    manifest: Manifest, toolchain: Toolchain, guarded: tuple[str, ...], workspace: str | None
) -> tuple[Grant, ...]:
    """Order grants from the outside in, so that an inner one lies over the outer one."""
    writable = {*manifest.write_paths, *((workspace,) if workspace else ())}
    readable = {*manifest.read_paths, *toolchain.read_paths, *guarded} - writable
    return tuple(
        Grant(path=path, writable=path in writable) for path in sorted(writable | readable)
    )


def _build_environment(manifest: Manifest, toolchain: Toolchain) -> dict[str, str]:
    path = ":".join([*toolchain.search, "/usr/local/bin", "/usr/bin", "/bin"])
    base_variables = {
        "PATH": path,
        "HOME": HOME,
        "USER": "sandbox",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }
    base_variables |= {"TMPDIR": "/tmp"} | dict(toolchain.environment)  # noqa: S108 - the box's own
    return {
        **base_variables,
        **(build_proxy_environment(PROXY_PORT) if _has_proxy(manifest) else {}),
        **manifest.environment,
    }


def _has_proxy(manifest: Manifest) -> bool:
    return bool(manifest.network_domains) or manifest.asks


def build_proxy_environment(port: int) -> dict[str, str]:
    """Give the variables by which common clients find a proxy."""
    address, local_hosts = f"http://127.0.0.1:{port}", "localhost,127.0.0.1"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    return {
        **dict.fromkeys(names, address),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), local_hosts),
        "NODE_USE_ENV_PROXY": "1",
    }


def kernel_limits(manifest: Manifest) -> dict[str, tuple[int, int]]:
    """Give the kernel's limits, soft and hard; processor time says so before it kills."""
    limits = manifest.limits
    # One more than a control group allows: where there is one, it refuses first and says so.
    processes = limits.processes + 1
    return {
        "NPROC": (processes, processes),
        "DATA": (limits.memory_bytes, limits.memory_bytes),
        "FSIZE": (limits.file_bytes, limits.file_bytes),
        "NOFILE": (limits.open_files, limits.open_files),
        "CPU": (limits.cpu_seconds, limits.cpu_seconds + 5),
        "CORE": (0, 0),
        "MEMLOCK": (65536, 65536),
    }


def _render_system(machine: Machine) -> list[str]:
    return [
        *(word for folder in machine.folders for word in ("--ro-bind", folder, folder)),
        *(word for path, target in machine.links for word in ("--symlink", target, path)),
        *(word for path in machine.etc for word in ("--ro-bind", path, path)),
        *("--symlink", "/usr/share/zoneinfo/UTC", "/etc/localtime"),
    ]


def _render_scratch(size: int) -> list[str]:
    sized = (word for path in SCRATCH for word in ("--size", str(size), "--tmpfs", path))
    return ["--proc", "/proc", "--dev", "/dev", *sized]


def _render_grant(grant: Grant, source: int | str) -> tuple[str, str, str]:
    option = "--bind" if grant.writable else "--ro-bind"
    suffix = "-fd" if isinstance(source, int) else ""
    return (option + suffix, str(source), grant.path)


def _render_file(path: str, files: Mapping[str, int]) -> tuple[str, ...]:
    return ("--perms", "0444", "--file", str(files[path]), path)


def _render_cover(cover: Cover, files: Mapping[str, int]) -> tuple[str, ...]:
    if cover.folder:
        return ("--size", "4096", "--tmpfs", cover.path, "--remount-ro", cover.path)
    return ("--ro-bind-data", str(files[cover.path]), cover.path)
