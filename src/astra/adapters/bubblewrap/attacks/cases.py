"""All attempts, in the order of the table; each surface has a module of its own."""

from astra.adapters.bubblewrap.attacks.attack import Attack
from astra.adapters.bubblewrap.attacks.files import CHANGED_FILES, COVERED_FILES, HIDDEN_FILES
from astra.adapters.bubblewrap.attacks.kernel import (
    KERNEL,
    LIMITS,
    MOUNTS,
    NAMESPACES,
    PRIVILEGES,
)
from astra.adapters.bubblewrap.attacks.memory import MEMORY
from astra.adapters.bubblewrap.attacks.network import SOCKETS
from astra.adapters.bubblewrap.attacks.processes import INHERITED, PROC, PTRACE
from astra.adapters.bubblewrap.attacks.works import WORKS

__all__ = ["ATTACKS", "WORKS", "Attack"]

ATTACKS = (
    *HIDDEN_FILES,
    *COVERED_FILES,
    *CHANGED_FILES,
    *PROC,
    *PTRACE,
    *MOUNTS,
    *NAMESPACES,
    *KERNEL,
    *SOCKETS,
    *INHERITED,
    *PRIVILEGES,
    *LIMITS,
    *MEMORY,
)
