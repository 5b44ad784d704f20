"""Attempts on the kernel: mounts, namespaces, keyrings, rare calls, privileges and limits."""

from astra.adapters.bubblewrap.attacks.attack import NOT_ALLOWED, make_attacks

MOUNTS = make_attacks(
    "mounts",
    NOT_ALLOWED,
    {
        "mount a file system": "got(call('mount', b'x', b'/tmp', b'tmpfs', 0, 0))",
        "bind the root folder": "got(call('mount', b'/', b'/tmp', 0, 4096, 0))",
        "make the root folder writable": "got(call('mount', b'', b'/', 0, 32, 0))",
        "make /proc writable": "got(call('mount', b'', b'/proc', 0, 32, 0))",
        "uncover .git": "got(call('umount2', (arena['work'] + '/.git').encode(), 2))",
        "uncover .env": "got(call('umount2', (arena['work'] + '/.env').encode(), 2))",
        "change the root": "got(call('pivot_root', b'/tmp', b'/tmp'))",
        "open a new file system": "got(call('fsopen', b'tmpfs', 0))",
        "pick a mounted file system": "got(call('fspick', -100, b'/', 0))",
        "clone a mount": "got(call('open_tree', -100, b'/', 1))",
        "move a mount": "got(call('move_mount', -100, b'/tmp', -100, b'/mnt', 0))",
        "change a mount's attributes": """
got(call('mount_setattr', -100, b'/', 0, ctypes.create_string_buffer(32), 32))""",
    },
)

NAMESPACES = (
    *make_attacks(
        "namespaces",
        NOT_ALLOWED,
        {
            "make a user namespace": "got(call('unshare', 0x10000000))",
            "make a mount namespace": "got(call('unshare', 0x00020000))",
            "make a network namespace": "got(call('unshare', 0x40000000))",
            "make a pid namespace": "got(call('unshare', 0x20000000))",
            "start a process in a user namespace": """
got(call('clone', 0x10000000 | 17, 0, 0, 0, 0))""",
            "start a process in a mount namespace": """
got(call('clone', 0x00020000 | 17, 0, 0, 0, 0))""",
            "enter a namespace by descriptor": """
got(call('setns', os.open('/proc/self/ns/net', os.O_RDONLY), 0))""",
        },
    ),
    *make_attacks(
        "namespaces",
        ("ENOSYS",),
        {
            "start a process by the newer call": """
flags = ctypes.c_uint64 * 11
got(call('clone3', flags(0x10000000), 88))""",
            "list mounts by the newer call": "got(call('statmount', 0, 0, 0, 0))",
            "use a call newer than the table": "got(call('open_tree_attr', -100, b'/', 1, 0, 0))",
        },
    ),
    *make_attacks(
        "namespaces",
        ("nothing",),
        {
            "build a box inside the box": """
import subprocess
words = ['bwrap', '--unshare-user', '--ro-bind', '/', '/', 'true']
if subprocess.run(words, capture_output=True).returncode == 0: got('a box')""",
            "use the unshare program": """
import subprocess
if subprocess.run(['unshare', '-r', 'true'], capture_output=True).returncode == 0: got('root')""",
        },
    ),
)

KERNEL = (
    *make_attacks(
        "kernel",
        NOT_ALLOWED,
        {
            "add a key": "got(call('add_key', b'user', b'x', b'y', 1, -3))",
            "search the keyrings": "got(call('keyctl', 6, -3, 0, 0, 0))",
            "request a key": "got(call('request_key', b'user', b'x', 0, -3))",
            "load a BPF program": "got(call('bpf', 5, 0, 0))",
            "count events of the machine": """
got(call('perf_event_open', ctypes.create_string_buffer(128), 0, -1, -1, 0))""",
            "handle page faults": "got(call('userfaultfd', 0))",
            "watch the file system": "got(call('fanotify_init', 0, 0))",
            "load a kernel module": "got(call('init_module', b'x', 1, b''))",
            "load a kernel module from a file": "got(call('finit_module', 0, b'', 0))",
            "load another kernel": "got(call('kexec_load', 0, 0, 0, 0))",
            "restart the machine": "got(call('reboot', 0xfee1dead, 672274793, 0, 0))",
            "read the kernel's log by call": "got(call('syslog', 3, 0, 0))",
            "add swap space": "got(call('swapon', b'/tmp/x', 0))",
            "turn accounting on": "got(call('acct', 0))",
            "set the clock": "got(call('clock_settime', 0, 0))",
            "rename the machine": "got(call('sethostname', b'x', 1))",
            "read disk quotas": "got(call('quotactl', 0, 0, 0, 0))",
            "turn address randomisation off": "got(call('personality', 0x0040000))",
        },
    ),
    *make_attacks(
        "kernel", ("ENOSYS",), {"set up an io_uring": "got(call('io_uring_setup', 1, 0))"}
    ),
    *make_attacks(
        "kernel",
        ("EPERM", "ENOSYS"),
        {
            "open the ports of the machine": "got(call('iopl', 3))",
            "change the segment table": "got(call('modify_ldt', 1, 0, 0))",
        },
    ),
    *make_attacks(
        "kernel",
        ("signal 31", "nothing"),
        {
            "make a 32-bit system call": """
import mmap, platform
if platform.machine() == 'x86_64':
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex('b814000000cd80c3'))  # mov eax, getpid; int 0x80; ret
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    got(ctypes.CFUNCTYPE(ctypes.c_int)(place)())""",
        },
    ),
)

PRIVILEGES = (
    *make_attacks(
        "privileges",
        ("EPERM", "EINVAL"),
        {
            "become root": "got(os.setuid(0))",
            "become another user": "got(os.setuid(12345))",
            "join root's group": "got(os.setgid(0))",
            "join other groups": "got(os.setgroups([0, 4, 27]))",
            "take capabilities back": """
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
got(call('capset', header, (ctypes.c_uint32 * 6)(*[0xffffffff] * 6)))""",
            "run with real-time priority": """
got(os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))""",
            "turn no-new-privileges off": """
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 0, 0, 0, 0) == 0: got('off')
raise OSError(ctypes.get_errno(), 'prctl')""",
        },
    ),
    *make_attacks(
        "privileges",
        ("EACCES", "EPERM"),
        {"run before everybody else": "got(os.setpriority(os.PRIO_PROCESS, 0, -20))"},
    ),
    *make_attacks(
        "privileges",
        ("nothing",),
        {
            "raise its own limits": """
import resource
try:
    resource.setrlimit(resource.RLIMIT_NPROC, (10**6, 10**6))
except (ValueError, OSError):
    pass
else:
    got('raised')""",
            "use a set-uid program": """
import subprocess
for words in (['su', '-c', 'id'], ['sudo', '-n', 'id'], ['passwd', '-S'], ['mount']):
    try:
        out = subprocess.run(words, capture_output=True, text=True).stdout
    except OSError:
        continue
    if 'uid=0' in out: got(out)""",
            "hold any capability": """
text = read('/proc/self/status')
held = [l for l in text.splitlines() if l.startswith('Cap') and int(l.split()[1], 16)]
if held: got(held)""",
            "run without a filter": """
if 'Seccomp:\\t2' not in read('/proc/self/status'): got('no filter')""",
        },
    ),
)

LIMITS = (
    *make_attacks(
        "limits",
        ("EAGAIN",),
        {
            "start more processes than allowed": """
for count in range(arena['processes'] + 5):
    if os.fork() == 0:
        import time
        time.sleep(60)
        os._exit(0)
got(count)""",
        },
    ),
    *make_attacks(
        "limits",
        ("ENOMEM",),
        {"take more memory than allowed": "got(len(bytearray(arena['memory'] + 2**20)))"},
    ),
    *make_attacks(
        "limits",
        ("EMFILE",),
        {
            "open more files than allowed": """
got(len([os.open('/dev/null', os.O_RDONLY) for n in range(arena['open_files'] + 1)]))""",
        },
    ),
    *make_attacks(
        "limits",
        ("EFBIG", "signal 25"),
        {
            "write a larger file than allowed": """
f = os.open(arena['work'] + '/large', os.O_CREAT | os.O_WRONLY)
os.lseek(f, arena['file'], 0)
got(os.write(f, b'x'))""",
        },
    ),
    *make_attacks(
        "limits",
        ("ENOSPC", "EFBIG", "signal 25"),
        {
            "fill the scratch space": """
for n in range(64):
    with open(f'/tmp/fill{n}', 'wb') as f:
        f.write(bytes(2**20))
got('no end')""",
            "fill the shared memory": """
for n in range(64):
    with open(f'/dev/shm/fill{n}', 'wb') as f:
        f.write(bytes(2**20))
got('no end')""",
        },
    ),
)
