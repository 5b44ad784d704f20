"""Runs inside a box: tries each attack in a child of its own and prints what came of it.

Started as a program with the path of a JSON file; imports the standard library only. An attack
ends as the name of an error (`EPERM`), as `nothing` when it ran and found nothing, as `signal N`,
`hung`, `broken: …` when the attempt itself is at fault, or as `out: …` when it got something.
"""

import ctypes
import errno
import json
import os
import platform
import select
import signal
import socket
import sys
from typing import Any

SECONDS = 5.0
_CALLS = {
    "x86_64": {"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312}
    | {"mount": 165, "umount2": 166, "pivot_root": 155, "unshare": 272, "setns": 308, "clone": 56}
    | {"keyctl": 250, "add_key": 248, "request_key": 249, "bpf": 321, "perf_event_open": 298}
    | {"userfaultfd": 323, "fanotify_init": 300, "kexec_load": 246, "reboot": 169, "syslog": 103}
    | {"init_module": 175, "finit_module": 313, "swapon": 167, "acct": 163, "clock_settime": 227}
    | {"sethostname": 170, "name_to_handle_at": 303, "open_by_handle_at": 304, "quotactl": 179}
    | {"personality": 135, "chroot": 161, "capset": 126, "iopl": 172, "modify_ldt": 154}
    | {"memfd_create": 319, "shmget": 29, "msgget": 68, "semget": 64},
    "aarch64": {"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272}
    | {"mount": 40, "umount2": 39, "pivot_root": 41, "unshare": 97, "setns": 268, "clone": 220}
    | {"keyctl": 219, "add_key": 217, "request_key": 218, "bpf": 280, "perf_event_open": 241}
    | {"userfaultfd": 282, "fanotify_init": 262, "kexec_load": 104, "reboot": 142, "syslog": 116}
    | {"init_module": 105, "finit_module": 273, "swapon": 224, "acct": 89, "clock_settime": 112}
    | {"sethostname": 161, "name_to_handle_at": 264, "open_by_handle_at": 265, "quotactl": 60}
    | {"personality": 92, "chroot": 51, "capset": 91}
    | {"memfd_create": 279, "shmget": 194, "msgget": 186, "semget": 190},
}
_NEWER = (
    {"io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fspick": 433}
    | {"clone3": 435, "pidfd_getfd": 438, "mount_setattr": 442, "memfd_secret": 447}
    | {"statmount": 457, "open_tree_attr": 467}
)


class GotOut(Exception):
    """Raised by an attack that reached something it must not reach."""


def main(words: list[str]) -> None:
    with open(words[0], encoding="utf-8") as file:  # noqa: PTH123 - starts without pathlib
        job = json.load(file)
    for attack in job["attacks"]:
        outcome = _run_in_child(attack["script"], job["arena"])
        print(json.dumps({"name": attack["name"], "outcome": outcome}), flush=True)  # noqa: T201


def _run_in_child(script: str, arena: dict[str, Any]) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, _run_script(script, arena).encode())
        os._exit(0)
    os.close(writing)
    ready = select.select([reading], [], [], SECONDS)[0]
    text = os.read(reading, 4096).decode() if ready else "hung"
    os.close(reading)
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    return text or f"signal {os.WTERMSIG(status)}"


def _run_script(script: str, arena: dict[str, Any]) -> str:
    names = {
        "arena": arena,
        "got": _report_escape,
        "call": _make_syscall,
        "read": _read_file,
        "write": _write_file,
    }
    names |= {"os": os, "socket": socket, "ctypes": ctypes}
    try:
        exec(compile(script, "<attack>", "exec"), names)  # noqa: S102 - that is the trade here
    except GotOut as evidence:
        return f"out: {evidence}"[:300]
    except socket.gaierror:
        return "no name"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, f"errno {error.errno}")
    except MemoryError:
        return "ENOMEM"
    except Exception as error:  # noqa: BLE001 - a faulty attack must not pass as a blocked one
        return f"broken: {error!r}"[:300]
    return "nothing"


def _report_escape(evidence: object) -> None:
    raise GotOut(str(evidence))


def _make_syscall(name: str, *arguments: object) -> int:
    """Make a system call by name; an OSError says why it was refused."""
    number = (_CALLS.get(platform.machine(), {}) | _NEWER).get(name)
    if number is None:
        raise OSError(errno.ENOSYS, name)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    answer = libc.syscall(ctypes.c_long(number), *(_to_c_argument(value) for value in arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), name)
    return answer


def _to_c_argument(value: object) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else value


def _read_file(path: str) -> str:
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read(4096).decode("utf-8", "replace")


def _write_file(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
