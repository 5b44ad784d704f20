"""Runs the program in a small interpreter, so that both architectures are tested on any machine."""

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.sandbox import seccomp
from astra.trusted.sandbox.seccomp import TABLES, UnknownArchitecture

ALLOW = "allow"
KILL = "kill"
architectures = pytest.mark.parametrize("architecture", sorted(TABLES))


def outcome(
    architecture: str, number: int, *arguments: int, audit: int | None = None, **rules: bool
) -> object:
    """Interpret the classic BPF program the way the kernel does."""
    audit = TABLES[architecture].audit if audit is None else audit
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQ6Q", number, audit, 0, *(a & 2**64 - 1 for a in padded))
    steps = list(struct.iter_unpack("<HBBI", seccomp.compile_program(architecture, **rules)))
    register, place = 0, 0
    while True:
        code, if_true, if_false, operand = steps[place]
        place += 1
        if code == 0x20:
            (register,) = struct.unpack_from("<I", data, operand)
        elif code == 0x54:
            register &= operand
        elif code == 0x06:
            return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(operand, operand & 0xFFFF)
        else:
            held = {0x15: register == operand, 0x25: register > operand, 0x45: register & operand}
            place += if_true if held[code] else if_false


def call(architecture: str, name: str, *arguments: int, **rules: bool) -> object:
    return outcome(architecture, TABLES[architecture].numbers[name], *arguments, **rules)


@architectures
@pytest.mark.parametrize(
    "name",
    [
        *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
        *("mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen"),
        *("unshare", "setns", "keyctl", "add_key", "request_key", "bpf", "userfaultfd"),
        *("io_uring_setup", "io_uring_enter", "io_uring_register", "perf_event_open"),
        *("open_by_handle_at", "kexec_load", "init_module", "reboot", "clock_settime"),
    ],
)
def test_a_dangerous_call_does_not_exist(architecture: str, name: str) -> None:
    assert call(architecture, name) in {errno.EPERM, errno.ENOSYS}


@architectures
def test_namespaces_cannot_be_made_but_threads_and_processes_can(architecture: str) -> None:
    new_user, fork, thread = 0x10000000, 17, 0x3D0F00
    assert call(architecture, "clone", new_user | fork) == errno.EPERM
    assert call(architecture, "clone", 0x00020000) == errno.EPERM
    assert call(architecture, "clone", fork) == ALLOW
    assert call(architecture, "clone", thread) == ALLOW
    assert call(architecture, "clone3") == errno.ENOSYS


@architectures
@pytest.mark.parametrize("high", [0, 1 << 32, 0xFFFFFFFF << 32])
def test_terminal_injection_is_refused_whatever_the_high_half_says(
    architecture: str, high: int
) -> None:
    for request in (0x5412, 0x541C):
        assert call(architecture, "ioctl", 0, request | high) == errno.EPERM
    assert call(architecture, "ioctl", 0, 0x5401) == ALLOW


@architectures
@pytest.mark.parametrize(
    ("family", "kind", "protocol", "expected"),
    [
        (1, 1, 0, ALLOW),
        (2, 1, 6, ALLOW),
        (10, 2 | 0o2000000, 0, ALLOW),
        (2, 3, 1, errno.EPERM),
        (2, 3 | 0o2000000 | 0o4000, 255, errno.EPERM),
        (2, 10, 0, errno.EPERM),
        (2, 1, 132, errno.EPROTONOSUPPORT),
        (2, 1, 262, errno.EPROTONOSUPPORT),
        (16, 3, 0, errno.EAFNOSUPPORT),
        (17, 3, 0, errno.EAFNOSUPPORT),
        (38, 5, 0, errno.EAFNOSUPPORT),
        (40, 1, 0, errno.EAFNOSUPPORT),
        (1 << 32 | 16, 3, 0, errno.EAFNOSUPPORT),
    ],
)
def test_only_plain_sockets_exist(
    architecture: str, family: int, kind: int, protocol: int, expected: object
) -> None:
    assert call(architecture, "socket", family, kind, protocol) == expected


@architectures
def test_set_id_files_cannot_be_made(architecture: str) -> None:
    creates = 0o101
    assert call(architecture, "openat", 0, 0, creates, 0o4755) == errno.EPERM
    assert call(architecture, "openat", 0, 0, 0o20200000, 0o2755) == errno.EPERM
    assert call(architecture, "openat", 0, 0, creates, 0o755) == ALLOW
    assert call(architecture, "fchmod", 0, 0o6755) == errno.EPERM
    assert call(architecture, "fchmodat", 0, 0, 0o4755) == errno.EPERM
    assert call(architecture, "fchmodat2", 0, 0, 0o4755) == errno.EPERM
    assert call(architecture, "fchmod", 0, 0o1777) == ALLOW


@architectures
def test_a_plain_open_is_not_judged_by_a_mode_it_does_not_have(architecture: str) -> None:
    assert call(architecture, "openat", 0, 0, 0, 0o4755) == ALLOW


@architectures
def test_calls_of_another_instruction_set_end_the_process(architecture: str) -> None:
    assert outcome(architecture, 1, audit=0x40000003) == KILL


@architectures
@given(number=st.integers(seccomp.NEWEST_KNOWN + 1, 2**32 - 1))
def test_a_call_newer_than_the_table_does_not_exist(architecture: str, number: int) -> None:
    assert outcome(architecture, number) == errno.ENOSYS


@architectures
@given(number=st.integers(0, 424))
def test_every_other_call_is_left_alone(architecture: str, number: int) -> None:
    if number not in TABLES[architecture].numbers.values():
        assert outcome(architecture, number) == ALLOW


@architectures
def test_no_call_has_two_names(architecture: str) -> None:
    numbers = list(TABLES[architecture].numbers.values())
    assert len(numbers) == len(set(numbers))


@architectures
def test_memory_that_nobody_counts_is_refused_unless_a_control_group_counts_it(
    architecture: str,
) -> None:
    most, shared, private, file = seccomp.LARGEST_SHARED_MAPPING, 0x21, 0x22, 0x01
    refused = {
        ("memfd_create", 0, 0): errno.ENOSYS,
        ("msgget", 0, 0): errno.ENOSYS,
        ("shmget", 0, seccomp.LARGEST_SEGMENT + 1): errno.ENOMEM,
        ("shmget", 0, 2**40): errno.ENOMEM,
        ("semget", 0, seccomp.MOST_SEMAPHORES + 1): errno.ENOSPC,
        ("mmap", 0, most + 1, 3, shared): errno.ENOMEM,
        ("mmap", 0, 2**32, 3, shared): errno.ENOMEM,
        ("mmap", 0, 2**33, 3, shared | 0x02): errno.ENOMEM,
    }
    for (name, *arguments), error in refused.items():
        assert call(architecture, name, *arguments) == error
        assert call(architecture, name, *arguments, counted=True) == ALLOW
    assert call(architecture, "mmap", 0, most, 3, shared) == ALLOW
    assert call(architecture, "mmap", 0, 2**33, 3, private) == ALLOW
    assert call(architecture, "mmap", 0, 2**33, 3, file) == ALLOW
    assert call(architecture, "shmget", 0, 56) == ALLOW


@architectures
def test_no_further_socket_joins_a_port_that_releases_share(architecture: str) -> None:
    level, share_port, keep_alive = 1, 15, 9
    assert call(architecture, "setsockopt", 3, level, share_port) == ALLOW
    rules = {"shares_port": True}
    assert call(architecture, "setsockopt", 3, level, share_port, **rules) == errno.EPERM
    assert call(architecture, "setsockopt", 3, level, 51, **rules) == errno.EPERM
    assert call(architecture, "setsockopt", 3, level, keep_alive, **rules) == ALLOW
    assert call(architecture, "setsockopt", 3, 6, share_port, **rules) == ALLOW


def test_an_architecture_without_a_table_is_refused() -> None:
    with pytest.raises(UnknownArchitecture) as refusal:
        seccomp.compile_program("riscv64")
    assert "x86_64" in refusal.value.next_step
