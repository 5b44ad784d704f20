"""Proves on this machine, before any agent code runs, that a box holds.

Runs the real profile with a few attempts of each kind and with things that have to work; anything
unexpected is a problem, and every problem says what to install or set. No box, no agent code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from astra.adapters.bubblewrap.attacks.arena import Result, run_attacks
from astra.adapters.bubblewrap.attacks.cases import ATTACKS, WORKS
from astra.trusted.kernel.errors import AstraError

CANARIES = {
    *("read a secret by its path", "read .env in the writable folder", "write to /usr"),
    *("plant a git hook", "create a set-uid program", "change a host setting"),
    *("signal a host process", "attach to init", "mount a file system", "make a user namespace"),
    *(
        "search the keyrings",
        "set up an io_uring",
        "open a packet socket",
        "connect to the internet",
    ),
    *("connect to the host's loopback", "connect to the host's abstract socket"),
    *("find open descriptors", "walk out through a descriptor", "find the host's environment"),
    *("hold any capability", "run without a filter", "raise its own limits"),
}
_SETTINGS = (
    "kernel/unprivileged_userns_clone",
    "kernel/apparmor_restrict_unprivileged_userns",
    "user/max_user_namespaces",
)


@dataclass(frozen=True, kw_only=True)
class Problem:
    what: str
    fix: str


@dataclass(frozen=True, kw_only=True)
class Preflight:
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


def preflight() -> Preflight:
    attempts = (*WORKS, *(attack for attack in ATTACKS if attack.name in CANARIES))
    try:
        table = run_attacks(attempts)
    except AstraError as error:
        return Preflight(problems=(Problem(what=error.detail, fix=error.next_step),))
    return judge_results(table, read_settings())


def judge_results(table: list[Result], settings: Mapping[str, str]) -> Preflight:
    """Turn a table into problems; a box that cannot start is one problem, not twenty."""
    failed = [result for result in table if not result.is_expected]
    unstarted = [result for result in failed if result.outcome.startswith("not tried:")]
    if unstarted:
        message = unstarted[0].outcome.removeprefix("not tried:").strip()
        return Preflight(problems=(Problem(what=message, fix=suggest_fix(message, settings)),))
    return Preflight(
        problems=tuple(
            Problem(
                what=f"{result.name}: ended as {result.outcome}, not as {result.expected[0]}",
                fix="do not run agent code here; report this with the output of astra doctor",
            )
            for result in failed
        )
    )


def suggest_fix(words: str, settings: Mapping[str, str]) -> str:
    """Say what to set, from what bwrap said and how the kernel is set.

    >>> suggest_fix("No permissions …", {"kernel/unprivileged_userns_clone": "0"})
    'sysctl -w kernel.unprivileged_userns_clone=1'
    """
    if settings.get("kernel/unprivileged_userns_clone") == "0":
        return "sysctl -w kernel.unprivileged_userns_clone=1"
    if settings.get("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "allow bwrap user namespaces: install the AppArmor profile bwrap-userns-restrict, or"
            " sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        )
    if settings.get("user/max_user_namespaces") == "0":
        return "sysctl -w user.max_user_namespaces=10000"
    if "Unknown option" in words:
        return "install bubblewrap 0.8 or newer (with --disable-userns and --bind-fd)"
    if "namespace" in words or "Operation not permitted" in words:
        return (
            "allow user namespaces here; in a container start it with"
            " --security-opt seccomp=unconfined or a profile that allows clone and unshare"
        )
    return "run astra doctor --attack and read what bwrap says"


def read_settings() -> dict[str, str]:
    settings: dict[str, str] = {}
    for name in _SETTINGS:
        try:
            settings[name] = Path("/proc/sys", name).read_text(encoding="ascii").strip()
        except OSError:
            continue
    return settings
