r"""The system calls that do not exist inside a box, as a classic BPF program made here.

Own assembler, no libseccomp: the program is data that a test can read and run. It is a deny list
over a closed table: every call newer than `NEWEST_KNOWN` (and every x32 call) is answered "no such
call", so that a new kernel opens nothing. A 32-bit call ends the process. An architecture without
a table is refused.

Where no control group counts a box (`counted` is False), the calls that hold memory which no limit
and no watcher can see do not exist either, or only up to a size at which what is left can be
counted: see `memory`. In a box that is on the host's network and shares the app's port with other
releases (`shares_port`), no further socket can be made to join that port.

>>> len(compile_program("x86_64")) % 8
0
"""

import errno
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from astra.trusted.kernel.errors import Refused

NEWEST_KNOWN = 466

_LOAD, _EQUAL, _GREATER, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

_NEW_NAMESPACES = 0x7E020000
_CREATES = 0o100 | 0o20000000  # O_CREAT, O_TMPFILE: only then a mode is looked at
_SET_ID_BITS = 0o6000
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_UNIX, _INET, _INET6 = 1, 2, 10
_RAW, _PACKET, _TYPE_BITS = 3, 10, 0xF
_PLAIN_PROTOCOLS = (0, 1, 6, 17)
_PERSONALITIES = (0, 0xFFFFFFFF)
_SOCKET_LEVEL = 1
_STEERING = (51, 52, 68)  # SO_{ATTACH_REUSEPORT_CBPF, ATTACH_REUSEPORT_EBPF, DETACH_REUSEPORT_BPF}
_SHARE_PORT = 15  # SO_REUSEPORT
_SHARED_ANONYMOUS = 0x01 | 0x20  # MAP_SHARED and MAP_ANONYMOUS, both set
LARGEST_SHARED_MAPPING = 16 * 2**20
LARGEST_SEGMENT = 16 * 2**10  # of System V; the kernel gives a box at most 4096 of them
MOST_SEMAPHORES = 64  # in one set; the kernel gives a box at most 32,000 sets


class UnknownArchitecture(Refused):
    code = "sandbox_unknown_architecture"


class Instruction(NamedTuple):
    code: int
    if_true: int
    if_false: int
    operand: int


@dataclass(frozen=True, kw_only=True)
class Table:
    audit: int
    numbers: dict[str, int]


# Same number everywhere: calls added since kernel 5.1.
_COMMON = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "openat2": 437,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "memfd_secret": 447,
    "fchmodat2": 452,
    "statmount": 457,
    "listmount": 458,
}
TABLES = {
    "x86_64": Table(
        audit=0xC000003E,
        numbers=_COMMON
        | {"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312}
        | {"mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161}
        | {"unshare": 272, "setns": 308, "clone": 56}
        | {"keyctl": 250, "add_key": 248, "request_key": 249}
        | {"bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "fanotify_init": 300}
        | {"kexec_load": 246, "kexec_file_load": 320, "reboot": 169, "syslog": 103}
        | {"init_module": 175, "finit_module": 313, "delete_module": 176}
        | {"create_module": 174, "get_kernel_syms": 177, "query_module": 178}
        | {"swapon": 167, "swapoff": 168, "acct": 163, "quotactl": 179, "vhangup": 153}
        | {"sethostname": 170, "setdomainname": 171}
        | {"settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "clock_adjtime": 305}
        | {"iopl": 172, "ioperm": 173, "modify_ldt": 154}
        | {"lookup_dcookie": 212, "nfsservctl": 180, "uselib": 134, "sysfs": 139, "_sysctl": 156}
        | {"name_to_handle_at": 303, "open_by_handle_at": 304}
        | {"move_pages": 279, "migrate_pages": 256, "personality": 135}
        | {"ioctl": 16, "socket": 41, "socketpair": 53, "setsockopt": 54}
        | {"chmod": 90, "fchmod": 91, "fchmodat": 268, "mknod": 133, "mknodat": 259}
        | {"open": 2, "openat": 257, "creat": 85}
        | {"memfd_create": 319, "mmap": 9, "shmget": 29, "semget": 64, "msgget": 68},
    ),
    "aarch64": Table(
        audit=0xC00000B7,
        numbers=_COMMON
        | {"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272}
        | {"mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51}
        | {"unshare": 97, "setns": 268, "clone": 220}
        | {"keyctl": 219, "add_key": 217, "request_key": 218}
        | {"bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "fanotify_init": 262}
        | {"kexec_load": 104, "kexec_file_load": 294, "reboot": 142, "syslog": 116}
        | {"init_module": 105, "finit_module": 273, "delete_module": 106}
        | {"swapon": 224, "swapoff": 225, "acct": 89, "quotactl": 60, "vhangup": 58}
        | {"sethostname": 161, "setdomainname": 162}
        | {"settimeofday": 170, "clock_settime": 112, "adjtimex": 171, "clock_adjtime": 266}
        | {"lookup_dcookie": 18, "nfsservctl": 42}
        | {"name_to_handle_at": 264, "open_by_handle_at": 265}
        | {"move_pages": 239, "migrate_pages": 238, "personality": 92}
        | {"ioctl": 29, "socket": 198, "socketpair": 199, "setsockopt": 208}
        | {"fchmod": 52, "fchmodat": 53, "mknodat": 33, "openat": 56}
        | {"memfd_create": 279, "mmap": 222, "shmget": 194, "semget": 190, "msgget": 186},
    ),
}
# Answered "no such call", so that programs fall back to an older call that can be checked.
_ABSENT = {
    *("clone3", "openat2", "statmount", "listmount", "io_uring_setup"),
    *("memfd_create", "msgget"),
}
# Not looked at where a control group counts what they hold.
_HOLD_MEMORY = {"memfd_create", "mmap", "shmget", "semget", "msgget"}
_SET_ID_MODES = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1}
_SET_ID_NODES = {"mknod": 1, "mknodat": 2}
_SET_ID_OPENS = {"open": (1, 2), "openat": (2, 3)}
_CHECKED = {
    *("clone", "ioctl", "socket", "socketpair", "setsockopt", "personality"),
    *("mmap", "shmget", "semget"),
}


@lru_cache(maxsize=4)
def compile_program(
    architecture: str, *, counted: bool = False, shares_port: bool = False
) -> bytes:
    steps = build_instructions(architecture, counted=counted, shares_port=shares_port)
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def build_instructions(
    architecture: str, *, counted: bool = False, shares_port: bool = False
) -> list[Instruction]:
    table = TABLES.get(architecture)
    if table is None:
        raise UnknownArchitecture(
            f"there is no system call table for {architecture}",
            next_step=f"run Astra on one of: {', '.join(TABLES)}",
        )
    steps = [
        Instruction(_LOAD, 0, 0, _ARCHITECTURE),
        Instruction(_EQUAL, 1, 0, table.audit),
        Instruction(_RETURN, 0, 0, _KILL),
        Instruction(_LOAD, 0, 0, _NUMBER),
        Instruction(_GREATER, 0, 1, NEWEST_KNOWN),
        _return_errno(errno.ENOSYS),
    ]
    for name, number in table.numbers.items():
        if counted and name in _HOLD_MEMORY:
            continue
        body = _build_call_filter(name)
        if shares_port and name == "setsockopt":
            body = [*_NO_SHARED_PORT, *body]
        steps += [Instruction(_EQUAL, 0, len(body), number), *body]
    return [*steps, Instruction(_RETURN, 0, 0, _ALLOW)]


def _build_call_filter(name: str) -> list[Instruction]:
    """Describe what happens to one call; every body ends the program."""
    if name in _CHECKED:
        return [*_CHECKS[name], Instruction(_RETURN, 0, 0, _ALLOW)]
    if name in _SET_ID_OPENS:
        flags, mode = _SET_ID_OPENS[name]
        refusal = _if_any_bit(mode, _SET_ID_BITS, errno.EPERM)
        return [
            _load_argument(flags),
            Instruction(_ANY_BIT, 0, len(refusal), _CREATES),
            *refusal,
            Instruction(_RETURN, 0, 0, _ALLOW),
        ]
    if name in _SET_ID_MODES | _SET_ID_NODES:
        mode = (_SET_ID_MODES | _SET_ID_NODES)[name]
        return [*_if_any_bit(mode, _SET_ID_BITS, errno.EPERM), Instruction(_RETURN, 0, 0, _ALLOW)]
    return [_return_errno(errno.ENOSYS if name in _ABSENT else errno.EPERM)]


def _if_any_bit(argument: int, bits: int, error: int) -> list[Instruction]:
    return [_load_argument(argument), Instruction(_ANY_BIT, 0, 1, bits), _return_errno(error)]


def _if_above(argument: int, most: int, error: int) -> list[Instruction]:
    """Refuse a size, all 64 bits of it."""
    return [
        Instruction(_LOAD, 0, 0, _ARGUMENTS + 8 * argument + 4),
        Instruction(_GREATER, 2, 0, 0),
        _load_argument(argument),
        Instruction(_GREATER, 0, 1, most),
        _return_errno(error),
    ]


def _unless_one_of(argument: int, values: tuple[int, ...], error: int) -> list[Instruction]:
    value_count = len(values)
    return [
        _load_argument(argument),
        *(Instruction(_EQUAL, value_count - place, 0, value) for place, value in enumerate(values)),
        _return_errno(error),
    ]


def _load_argument(place: int) -> Instruction:
    """Load the low half: the kernel cuts these arguments to 32 bits too, so no bit can hide."""
    return Instruction(_LOAD, 0, 0, _ARGUMENTS + 8 * place)


def _return_errno(error: int) -> Instruction:
    return Instruction(_RETURN, 0, 0, _ERRNO | error)


_TOO_LARGE = _if_above(1, LARGEST_SHARED_MAPPING, errno.ENOMEM)
_NO_SHARED_PORT = [
    _load_argument(1),
    Instruction(_EQUAL, 0, 3, _SOCKET_LEVEL),
    _load_argument(2),
    Instruction(_EQUAL, 0, 1, _SHARE_PORT),
    _return_errno(errno.EPERM),
]
_CHECKS = {
    # A private mapping is counted by the kernel's limit on data and by the watcher.
    "mmap": [
        _load_argument(3),
        Instruction(_AND, 0, 0, _SHARED_ANONYMOUS),
        Instruction(_EQUAL, 0, len(_TOO_LARGE), _SHARED_ANONYMOUS),
        *_TOO_LARGE,
    ],
    "shmget": _if_above(1, LARGEST_SEGMENT, errno.ENOMEM),
    "semget": _if_above(1, MOST_SEMAPHORES, errno.ENOSPC),
    "clone": _if_any_bit(0, _NEW_NAMESPACES, errno.EPERM),
    "personality": _unless_one_of(0, _PERSONALITIES, errno.EPERM),
    "socketpair": _unless_one_of(0, (_UNIX,), errno.EAFNOSUPPORT),
    "ioctl": [
        _load_argument(1),
        Instruction(_EQUAL, 1, 0, _TERMINAL_INJECTION[0]),
        Instruction(_EQUAL, 0, 1, _TERMINAL_INJECTION[1]),
        _return_errno(errno.EPERM),
    ],
    # A release must not take connections from another one that shares its port.
    "setsockopt": [
        _load_argument(1),
        Instruction(_EQUAL, 0, 5, _SOCKET_LEVEL),
        _load_argument(2),
        Instruction(_EQUAL, 2, 0, _STEERING[0]),
        Instruction(_EQUAL, 1, 0, _STEERING[1]),
        Instruction(_EQUAL, 0, 1, _STEERING[2]),
        _return_errno(errno.EPERM),
    ],
    "socket": [
        *_unless_one_of(0, (_UNIX, _INET, _INET6), errno.EAFNOSUPPORT),
        _load_argument(1),
        Instruction(_AND, 0, 0, _TYPE_BITS),
        Instruction(_EQUAL, 1, 0, _RAW),
        Instruction(_EQUAL, 0, 1, _PACKET),
        _return_errno(errno.EPERM),
        *_unless_one_of(2, _PLAIN_PROTOCOLS, errno.EPROTONOSUPPORT),
    ],
}
