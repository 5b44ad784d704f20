"""Attempts on other processes: through /proc, by ptrace, through what a process inherits."""

from astra.adapters.bubblewrap.attacks.attack import NOT_ALLOWED, make_attacks

PROC = (
    *make_attacks(
        "proc",
        ("EACCES", "EPERM", "EROFS"),
        {
            "write init's memory": "got(os.open('/proc/1/mem', os.O_RDWR))",
            "read the kernel's log": "got(read('/proc/kmsg'))",
            "have cores piped to a program": "got(write('/proc/sys/kernel/core_pattern', '|/x'))",
            "change a host setting": "got(write('/proc/sys/kernel/panic', '1'))",
            "drop the host's caches": "got(write('/proc/sys/vm/drop_caches', '1'))",
            "allow user namespaces again": "got(write('/proc/sys/user/max_user_namespaces', '9'))",
            "map another uid": "got(write('/proc/self/uid_map', '0 0 1'))",
            "lower its own out-of-memory score": "got(write('/proc/self/oom_score_adj', '-1000'))",
        },
    ),
    *make_attacks(
        "proc",
        ("EACCES", "EPERM", "EROFS", "ENOENT"),
        {
            "read the kernel's memory": "got(read('/proc/kcore'))",
            "press the magic key": "got(write('/proc/sysrq-trigger', 'h'))",
        },
    ),
    *make_attacks(
        "proc",
        ("nothing", "EACCES"),
        {
            "find more in init's root than in its own": """
more = set(os.listdir('/proc/1/root')) - set(os.listdir('/'))
if more: got(more)""",
            "walk up from init's working folder": """
more = set(os.listdir('/proc/1/cwd/' + '../' * 20)) - set(os.listdir('/'))
if more: got(more)""",
            "open a descriptor that only init has": """
for f in os.listdir('/proc/1/fd'):
    if int(f) > 2:
        try:
            got(os.open('/proc/1/fd/' + f, os.O_RDWR))
        except OSError:
            continue""",
            "find another namespace behind init": """
kinds = ('net', 'pid', 'mnt', 'user', 'ipc', 'uts')
other = [k for k in kinds if os.readlink(f'/proc/1/ns/{k}') != os.readlink(f'/proc/self/ns/{k}')]
if other: got(other)""",
            "read init's environment": """
if 'canary' in read('/proc/1/environ'): got('canary')""",
            "find the host's processes": """
pids = [p for p in os.listdir('/proc') if p.isdigit()]
if len(pids) > 8 or str(arena['pid']) in pids: got(pids)""",
            "find the host's paths in init's command line": """
if arena['var'] in read('/proc/1/cmdline'): got(read('/proc/1/cmdline'))""",
            "find keys in /proc/keys": """
text = read('/proc/keys')
if arena['canary'] in text: got(text)""",
        },
    ),
    *make_attacks(
        "proc",
        ("ENOENT", "EACCES", "ELOOP"),
        {
            "read a secret through its own root": "got(read('/proc/self/root' + arena['secret']))",
            "read a secret through init's root": "got(read('/proc/1/root' + arena['secret']))",
        },
    ),
    *make_attacks(
        "proc", ("ESRCH", "EPERM"), {"signal a host process": "got(os.kill(arena['pid'], 0))"}
    ),
)

PTRACE = make_attacks(
    "ptrace",
    NOT_ALLOWED,
    {
        "attach to init": "got(call('ptrace', 16, 1, 0, 0))",
        "seize init": "got(call('ptrace', 0x4206, 1, 0, 0))",
        "ask to be traced": "got(call('ptrace', 0, 0, 0, 0))",
        "read another process's memory": "got(call('process_vm_readv', 1, 0, 0, 0, 0, 0))",
        "write another process's memory": "got(call('process_vm_writev', 1, 0, 0, 0, 0, 0))",
        "take a descriptor out of init": """
got(call('pidfd_getfd', os.pidfd_open(1), 0, 0))""",
        "compare kernel objects with init": "got(call('kcmp', 1, os.getpid(), 0, 0, 0))",
    },
)

INHERITED = (
    *make_attacks(
        "inherited",
        ("nothing",),
        {
            "find open descriptors": """
held = {int(f) for f in os.listdir('/proc/self/fd')}
odd = [f for f in held if f > 2 and os.path.exists(f'/proc/self/fd/{f}')
       and not os.readlink(f'/proc/self/fd/{f}').startswith(('pipe:', arena['job']))]
if odd: got([os.readlink(f'/proc/self/fd/{f}') for f in odd])""",
            "walk out through a descriptor": """
for f in os.listdir('/proc/self/fd'):
    try:
        inner = os.open('../' * 9 + arena['secret'].lstrip('/'), os.O_RDONLY, dir_fd=int(f))
        got(os.read(inner, 99))
    except OSError:
        continue""",
            "find the host's environment": """
if arena['canary'] in str(dict(os.environ)): got(dict(os.environ))""",
            "find credentials in the environment": """
odd = [n for n in os.environ if any(w in n.upper() for w in ('TOKEN', 'SECRET', 'PASS'))]
if odd: got(odd)""",
            "read from the operator's terminal": """
if os.read(0, 10): got('typed text')""",
            "find shared memory of the host": """
if len(read('/proc/sysvipc/shm').splitlines()) > 1: got(read('/proc/sysvipc/shm'))""",
        },
    ),
    *make_attacks(
        "inherited",
        ("ENXIO",),
        {"open the controlling terminal": "got(os.open('/dev/tty', os.O_RDWR))"},
    ),
    *make_attacks(
        "inherited",
        NOT_ALLOWED,
        {
            "type into a terminal": """
import fcntl
main, other = os.openpty()
got(fcntl.ioctl(other, 0x5412, b'x'))""",
            "type into a terminal with a high bit set": """
main, other = os.openpty()
libc = ctypes.CDLL(None, use_errno=True)
if libc.ioctl(other, ctypes.c_ulong(0x5412 | 1 << 32), b'x') == 0: got('typed')
raise OSError(ctypes.get_errno(), 'TIOCSTI')""",
            "paste into a console": """
import fcntl
got(fcntl.ioctl(0, 0x541C, b'\\x03'))""",
        },
    ),
)
