"""Attempts to hold memory that counts for nobody, in a box without a control group.

`MEMORY` is tried beside the others. `BOMBS` have a box each, because what is expected of them is
that the box is ended, and named for the limit that they passed.
"""

from astra.adapters.bubblewrap.attacks.attack import NOT_ALLOWED, group
from astra.trusted.policy.manifest import MIB, Limits

MEMORY = (
    *group(
        "memory",
        ("ENOSYS",),
        {
            "make a file in memory without a name": "got(call('memfd_create', b'x', 0))",
            "make a System V message queue": "got(call('msgget', 0, 0o1600))",
        },
    ),
    *group(
        "memory",
        NOT_ALLOWED,
        {"make secret memory": "got(call('memfd_secret', 0))"},
    ),
    *group(
        "memory",
        ("ENOMEM",),
        {
            "make a large shared mapping": """
import mmap
got(mmap.mmap(-1, 2**25))""",
            "make a larger shared mapping than 32 bits say": """
import mmap
got(mmap.mmap(-1, 2**32))""",
            "make a large System V segment": "got(call('shmget', 0, 2**25, 0o1600))",
        },
    ),
    *group(
        "memory",
        ("ENOSPC",),
        {"make a large set of semaphores": "got(call('semget', 0, 32000, 0o1600))"},
    ),
    *group(
        "memory",
        ("ENODEV",),
        {
            "share a mapping of /dev/zero": """
import mmap
got(mmap.mmap(os.open('/dev/zero', os.O_RDWR), 2**25))""",
        },
    ),
)

BOMB_LIMITS = Limits(memory_bytes=96 * MIB, scratch_bytes=48 * MIB, wall_seconds=30)
_START = "import mmap, os, time\n"
_END = "\ntime.sleep(60)\n"
BOMBS = {
    name: f"{_START}{script}{_END}"
    for name, script in {
        "hold many shared mappings": """
held = []
for n in range(16):
    held.append(mmap.mmap(-1, 2**24))
    held[-1].write(bytes(2**24))""",
        "hold shared mappings without resident pages": """
held = []
for n in range(16):
    held.append(mmap.mmap(-1, 2**24))
    held[-1].write(bytes(2**24))
    held[-1].madvise(mmap.MADV_DONTNEED)""",
        "hold deleted files in memory": """
held = []
for folder in ('/tmp', '/dev/shm', os.environ['HOME']):
    held.append(open(folder + '/x', 'wb', 0))
    os.unlink(folder + '/x')
    held[-1].write(bytes(45 * 2**20))""",
        "hold memory in many processes": """
for n in range(8):
    if not os.fork():
        x = bytearray(2**25)
        time.sleep(60)""",
    }.items()
}
