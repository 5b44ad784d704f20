"""Attempts to hold memory that counts for nobody, in a box without a control group."""

from astra.adapters.bubblewrap.attacks.attack import NOT_ALLOWED, make_attacks

MEMORY = (
    *make_attacks(
        "memory",
        ("ENOSYS",),
        {
            "make a file in memory without a name": "got(call('memfd_create', b'x', 0))",
            "make a System V message queue": "got(call('msgget', 0, 0o1600))",
        },
    ),
    *make_attacks(
        "memory",
        NOT_ALLOWED,
        {"make secret memory": "got(call('memfd_secret', 0))"},
    ),
    *make_attacks(
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
    *make_attacks(
        "memory",
        ("ENOSPC",),
        {"make a large set of semaphores": "got(call('semget', 0, 32000, 0o1600))"},
    ),
    *make_attacks(
        "memory",
        ("ENODEV",),
        {
            "share a mapping of /dev/zero": """
import mmap
got(mmap.mmap(os.open('/dev/zero', os.O_RDWR), 2**25))""",
        },
    ),
)
