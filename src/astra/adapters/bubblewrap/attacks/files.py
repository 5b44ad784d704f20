"""Attempts on files: what is hidden, what is covered, and what may not be changed."""

from astra.adapters.bubblewrap.attacks.attack import ABSENT, NOT_ALLOWED, READ_ONLY, make_attacks

HIDDEN_FILES = make_attacks(
    "files",
    ABSENT,
    {
        "read a secret by its path": "got(read(arena['secret']))",
        "read a secret by going up": "got(read(arena['work'] + '/../secret.txt'))",
        "read a secret through a link made inside": """
link = arena['work'] + '/way-out'
os.symlink(arena['secret'], link)
got(read(link))""",
        "read a secret through a link that was there": "got(read(arena['library'] + '/link'))",
        "read the ledger's folder": "got(os.listdir(arena['var']))",
        "read Astra's own code": "got(os.listdir(arena['install']))",
        "read the password hashes": "got(read('/etc/shadow'))",
        "list the host's services in /run": "got(os.listdir('/run'))",
        "list the kernel's devices in /sys": "got(os.listdir('/sys'))",
        "list the boot folder": "got(os.listdir('/boot'))",
        "list the host's mail and spool": "got(os.listdir('/var'))",
        "read the machine's id": "got(read('/etc/machine-id'))",
        "read an SSH host key": "got(read('/etc/ssh/ssh_host_ed25519_key'))",
        "open the physical memory": "got(os.open('/dev/mem', os.O_RDONLY))",
        "open a disk": "got([os.open(d, os.O_RDONLY) for d in ('/dev/sda', '/dev/vda')])",
        "open the virtual machine monitor": "got(os.open('/dev/kvm', os.O_RDWR))",
        "open the user-space file system device": "got(os.open('/dev/fuse', os.O_RDWR))",
        "open the kernel log device": "got(os.open('/dev/kmsg', os.O_RDONLY))",
    },
)

SECRET_FILES = (
    "conf/server.key",
    "conf/site.pem",
    "credentials.json",
    ".npmrc",
    ".aws/credentials",
    ".netrc",
)
"""Files of a repository that the one rule for secrets keeps from boxes, planted by the arena."""


def _read_secret(name: str) -> str:
    return f"""
text = read(arena['library'] + '/{name}')
if text: got(text)"""


COVERED_FILES = make_attacks(
    "files",
    ("nothing", *ABSENT),
    {f"read {name} in a readable folder": _read_secret(name) for name in SECRET_FILES},
) + make_attacks(
    "files",
    ("nothing",),
    {
        "read .env in the writable folder": """
text = read(arena['work'] + '/.env')
if text: got(text)""",
        "read a private key in a readable folder": """
text = read(arena['library'] + '/id_ed25519')
if text: got(text)""",
        "find names of the host in the root folder": """
extra = set(os.listdir('/')) - set(arena['root_names'])
if extra: got(extra)""",
        "find other people in /etc/passwd": """
people = {line.split(':')[0] for line in read('/etc/passwd').splitlines()}
if people - {'root', 'sandbox', 'nobody'}: got(people)""",
    },
)

CHANGED_FILES = (
    *make_attacks(
        "files",
        READ_ONLY,
        {
            "write to a readable folder": "got(write(arena['library'] + '/new', 'x'))",
            "overwrite a readable file": "got(write(arena['library'] + '/page.txt', 'x'))",
            "write to /usr": "got(write('/usr/bin/astra-was-here', 'x'))",
            "write to the root folder": "got(write('/astra-was-here', 'x'))",
            "write to /etc": "got(write('/etc/astra-was-here', 'x'))",
            "replace the resolver's settings": "got(write('/etc/resolv.conf', 'x'))",
            "plant a git hook": "got(write(arena['work'] + '/.git/hooks/pre-commit', 'x'))",
            "change the git configuration": "got(write(arena['work'] + '/.git/config', 'x'))",
            "remove the git configuration": "got(os.unlink(arena['work'] + '/.git/config'))",
            "make a device in /dev": "got(write('/dev/new', 'x'))",
        },
    ),
    *make_attacks(
        "files",
        ("EBUSY",),
        {
            "move .git away to plant another": """
got(os.rename(arena['work'] + '/.git', arena['work'] + '/.git-old'))""",
            "remove the cover of .env": "got(os.unlink(arena['work'] + '/.env'))",
            "move the cover of .env": """
got(os.rename(arena['work'] + '/.env', arena['work'] + '/env'))""",
        },
    ),
    *make_attacks(
        "files",
        ("EXDEV",),
        {
            "link a readable file into the writable folder": """
got(os.link(arena['library'] + '/page.txt', arena['work'] + '/page'))""",
            "link a system program into the writable folder": """
got(os.link('/usr/bin/env', arena['work'] + '/env-program'))""",
            "link a covered secret out of its cover": """
got(os.link(arena['work'] + '/.env', arena['work'] + '/env2'))""",
        },
    ),
    *make_attacks(
        "files",
        ("EPERM", "EINVAL"),
        {
            "give a file to root": """
path = arena['work'] + '/given'
write(path, 'x')
got(os.chown(path, 0, 0))""",
        },
    ),
    *make_attacks(
        "files",
        NOT_ALLOWED,
        {
            "make a set-uid program by chmod": """
path = arena['work'] + '/suid'
write(path, 'x')
got(os.chmod(path, 0o4755))""",
            "make a set-gid program by chmod": """
path = arena['work'] + '/sgid'
write(path, 'x')
got(os.chmod(path, 0o2755))""",
            "create a set-uid program": """
got(os.open(arena['work'] + '/suid2', os.O_CREAT | os.O_WRONLY, 0o4755))""",
            "create a nameless set-uid program": """
got(os.open(arena['work'], os.O_TMPFILE | os.O_WRONLY, 0o4755))""",
            "make a block device": """
import stat
got(os.mknod(arena['work'] + '/disk', 0o600 | stat.S_IFBLK, os.makedev(8, 0)))""",
            "make a memory device": """
import stat
got(os.mknod(arena['work'] + '/mem', 0o600 | stat.S_IFCHR, os.makedev(1, 1)))""",
            "open a file by its handle": """
got(call('open_by_handle_at', -100, ctypes.create_string_buffer(64), 0))""",
            "ask for a file's handle": """
got(call('name_to_handle_at', -100, b'/', ctypes.create_string_buffer(64),
         ctypes.create_string_buffer(8), 0))""",
            "leave by chroot": "got(os.chroot(arena['work']))",
        },
    ),
)
