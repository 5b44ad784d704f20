"""Memory that is not private to one process: however a box holds it, it counts or is refused."""

from typing import Any

import pytest

from astra.trusted.policy.manifest import MIB, Limits
from astra.trusted.sandbox.ports import Verdict

pytestmark = pytest.mark.serial

LIMIT = 192 * MIB
GOAL = 3 * LIMIT
START = f"""
import ctypes, mmap, os, sys, time
GOAL, LIMIT = {GOAL}, {LIMIT}
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.shmat.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
libc.shmdt.argtypes = [ctypes.c_void_p]
def shared(size, descriptor=-1, flags=0x21):
    place = libc.mmap(None, size, 3, flags, descriptor, 0)
    if place in (None, 2**64 - 1):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    libc.memset(place, 1, size)
    return place
def hold():
    print("holds all", flush=True)
    time.sleep(60)
"""
REFUSED = {
    "memfd": "f = os.memfd_create('x')\nfor _ in range(GOAL >> 20): os.write(f, bytes(2**20))",
    "memfd_secret": "f = libc.syscall(447, 0)\nif f < 0: raise OSError(ctypes.get_errno(), '')",
    "one large shared mapping": "shared(GOAL)",
    "a shared mapping of /dev/zero": "shared(GOAL, os.open('/dev/zero', os.O_RDWR), 1)",
    "a large System V segment": """
n = libc.shmget(0, ctypes.c_size_t(GOAL), 0o1600)
if n < 0: raise OSError(ctypes.get_errno(), '')
libc.memset(libc.shmat(n, None, 0), 1, GOAL)""",
    "all of a folder in memory": "open('/tmp/x', 'wb').write(bytes(LIMIT // 2 + 2**20))",
}
ENDED = {
    "many shared mappings": "held = [shared(2**24) for _ in range(GOAL >> 24)]",
    "shared mappings without resident pages": """
for _ in range(GOAL >> 24): libc.madvise(shared(2**24), 2**24, 4)""",
    "shared mappings with one page still mapped": """
for _ in range(GOAL >> 24): libc.munmap(shared(2**24) + 4096, 2**24 - 4096)""",
    "shared mappings of many processes": """
for _ in range(GOAL >> 24):
    if not os.fork():
        shared(2**24)
        time.sleep(60)""",
    "files in all folders in memory": """
for folder in ('/tmp', '/dev/shm', os.environ['HOME']):
    with open(folder + '/x', 'wb') as file: file.write(bytes(LIMIT // 2 - 2**20))""",
    "deleted files in all folders in memory": """
held = []
for folder in ('/tmp', '/dev/shm', os.environ['HOME']):
    held.append(open(folder + '/x', 'wb'))
    os.unlink(folder + '/x')
    held[-1].write(bytes(LIMIT // 2 - 2**20))
    held[-1].flush()""",
    "shared mappings of a process that cannot be traced": """
libc.prctl(4, 0, 0, 0, 0)
held = [shared(2**24) for _ in range(GOAL >> 24)]""",
    "children of a process whose threads come and go": """
import threading
def churn():
    while True:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
for _ in range(4): threading.Thread(target=churn, daemon=True).start()
for _ in range(6):
    if not os.fork():
        x = bytearray(LIMIT // 3)
        time.sleep(60)""",
}
LIMITS = Limits(memory_bytes=LIMIT, scratch_bytes=LIMIT // 2, wall_seconds=40)


@pytest.mark.parametrize("way", REFUSED)
def test_memory_that_could_not_be_counted_is_refused(yard: Any, way: str) -> None:
    outcome = _attempt(yard, REFUSED[way])
    assert outcome.verdict is Verdict.FAILED, outcome
    assert b"holds all" not in outcome.stdout
    assert b"Error" in outcome.stderr


@pytest.mark.parametrize("way", ENDED)
def test_a_box_that_holds_more_than_its_limit_is_ended(yard: Any, way: str) -> None:
    outcome = _attempt(yard, ENDED[way])
    assert (outcome.verdict, outcome.limit) == (Verdict.KILLED_BY_LIMIT, "memory"), outcome


def test_small_system_v_segments_are_bounded_by_their_number(yard: Any) -> None:
    script = """
size, number = 16 * 2**10, 0
while True:
    n = libc.shmget(0, ctypes.c_size_t(size), 0o1600)
    if n < 0: break
    place = libc.shmat(n, None, 0)
    libc.memset(place, 1, size)
    libc.shmdt(place)
    number += 1
print(number * size)
sys.exit(0)
"""
    outcome = _attempt(yard, script)
    assert outcome.verdict is Verdict.SUCCEEDED, outcome
    assert int(outcome.stdout.split()[0]) <= 64 * MIB


def test_honest_programs_share_memory_within_the_limit(yard: Any) -> None:
    script = """
import multiprocessing
from multiprocessing import shared_memory
counter = multiprocessing.Value('i', 0)
block = shared_memory.SharedMemory(create=True, size=2**20)
block.buf[0] = 7
block.close(); block.unlink()
mapping = mmap.mmap(-1, 2**20)
if not os.fork():
    mapping[0] = 9
    os._exit(0)
os.wait()
zeros = open('/dev/zero', 'rb').read(4096)
print(mapping[0], counter.value, zeros == bytes(4096))
"""
    outcome = yard.run("/usr/bin/python3", "-c", START + script, limits=LIMITS)
    assert outcome.stdout == b"9 0 True\n", outcome


def _attempt(yard: Any, script: str) -> Any:
    return yard.run("/usr/bin/python3", "-c", f"{START}\n{script}\nhold()", limits=LIMITS)
