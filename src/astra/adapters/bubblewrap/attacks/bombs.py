"""Bombs: each has its own box, which has to be ended and named for the limit that it passed."""

from dataclasses import dataclass

from astra.trusted.policy.manifest import MIB, Limits

BOMB_LIMITS = Limits(
    memory_bytes=96 * MIB, scratch_bytes=48 * MIB, disk_bytes=48 * MIB, wall_seconds=30
)
_START = "import mmap, os, time\n"
_END = "\ntime.sleep(60)\n"


@dataclass(frozen=True, kw_only=True)
class Bomb:
    """What it does, in a box whose working folder it may write."""

    name: str
    limit: str
    lines: str

    @property
    def script(self) -> str:
        return f"{_START}{self.lines}{_END}"


BOMBS = (
    Bomb(
        name="hold many shared mappings",
        limit="memory",
        lines="""
held = []
for n in range(16):
    held.append(mmap.mmap(-1, 2**24))
    held[-1].write(bytes(2**24))""",
    ),
    Bomb(
        name="hold shared mappings without resident pages",
        limit="memory",
        lines="""
held = []
for n in range(16):
    held.append(mmap.mmap(-1, 2**24))
    held[-1].write(bytes(2**24))
    held[-1].madvise(mmap.MADV_DONTNEED)""",
    ),
    Bomb(
        name="hold deleted files in memory",
        limit="memory",
        lines="""
held = []
for folder in ('/tmp', '/dev/shm', os.environ['HOME']):
    held.append(open(folder + '/x', 'wb', 0))
    os.unlink(folder + '/x')
    held[-1].write(bytes(45 * 2**20))""",
    ),
    Bomb(
        name="hold memory in many processes",
        limit="memory",
        lines="""
for n in range(8):
    if not os.fork():
        x = bytearray(2**25)
        time.sleep(60)""",
    ),
    Bomb(
        name="fill a folder with files",
        limit="disk",
        lines="""
for n in range(100):
    with open(str(n), 'wb') as file: file.write(bytes(2**20))""",
    ),
    Bomb(
        name="fill a folder with deleted files",
        limit="disk",
        lines="""
held = []
for n in range(100):
    held.append(open('x', 'wb', 0))
    os.unlink('x')
    held[-1].write(bytes(2**20))""",
    ),
)
