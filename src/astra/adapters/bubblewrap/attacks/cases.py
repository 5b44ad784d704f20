"""The attempts: a name, a category, a few lines of Python, and how each has to end.

The lines see `arena` (what the host prepared), `read`, `write`, `call` (a system call by name) and
`got`, which an attempt calls with its evidence when it reached something. `expected` lists the
endings that mean the box held, as `referee` spells them.
"""

from dataclasses import dataclass

_HIDDEN = ("ENOENT",)
_NOT_ALLOWED = ("EPERM",)
_READ_ONLY = ("EROFS",)


@dataclass(frozen=True, kw_only=True)
class Attack:
    name: str
    category: str
    script: str
    expected: tuple[str, ...]


def _group(category: str, expected: tuple[str, ...], scripts: dict[str, str]) -> tuple[Attack, ...]:
    return tuple(
        Attack(name=name, category=category, script=script, expected=expected)
        for name, script in scripts.items()
    )


HIDDEN_FILES = _group(
    "files",
    _HIDDEN,
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
COVERED_FILES = _group(
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
    *_group(
        "files",
        _READ_ONLY,
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
    *_group(
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
    *_group(
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
    *_group(
        "files",
        ("EPERM", "EINVAL"),
        {
            "give a file to root": """
path = arena['work'] + '/given'
write(path, 'x')
got(os.chown(path, 0, 0))""",
        },
    ),
    *_group(
        "files",
        _NOT_ALLOWED,
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
PROC = (
    *_group(
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
    *_group(
        "proc",
        ("EACCES", "EPERM", "EROFS", "ENOENT"),
        {
            "read the kernel's memory": "got(read('/proc/kcore'))",
            "press the magic key": "got(write('/proc/sysrq-trigger', 'h'))",
        },
    ),
    *_group(
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
    *_group(
        "proc",
        ("ENOENT", "EACCES", "ELOOP"),
        {
            "read a secret through its own root": "got(read('/proc/self/root' + arena['secret']))",
            "read a secret through init's root": "got(read('/proc/1/root' + arena['secret']))",
        },
    ),
    *_group("proc", ("ESRCH", "EPERM"), {"signal a host process": "got(os.kill(arena['pid'], 0))"}),
)
PTRACE = _group(
    "ptrace",
    _NOT_ALLOWED,
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
MOUNTS = _group(
    "mounts",
    _NOT_ALLOWED,
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
    *_group(
        "namespaces",
        _NOT_ALLOWED,
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
    *_group(
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
    *_group(
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
    *_group(
        "kernel",
        _NOT_ALLOWED,
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
    *_group("kernel", ("ENOSYS",), {"set up an io_uring": "got(call('io_uring_setup', 1, 0))"}),
    *_group(
        "kernel",
        ("EPERM", "ENOSYS"),
        {
            "open the ports of the machine": "got(call('iopl', 3))",
            "change the segment table": "got(call('modify_ldt', 1, 0, 0))",
        },
    ),
    *_group(
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
SOCKETS = (
    *_group(
        "sockets",
        ("EAFNOSUPPORT",),
        {
            "open a packet socket": "got(socket.socket(17, socket.SOCK_RAW, 0x0300))",
            "open a netlink socket": "got(socket.socket(16, socket.SOCK_RAW, 0))",
            "open a socket to the hypervisor": "got(socket.socket(40, socket.SOCK_STREAM))",
            "open a kernel crypto socket": "got(socket.socket(38, socket.SOCK_SEQPACKET))",
            "open a Bluetooth socket": "got(socket.socket(31, socket.SOCK_STREAM))",
            "open an express data path": "got(socket.socket(44, socket.SOCK_RAW))",
            "open a CAN bus": "got(socket.socket(29, socket.SOCK_RAW))",
            "open a TIPC pair": "got(socket.socketpair(30, socket.SOCK_STREAM))",
        },
    ),
    *_group(
        "sockets",
        _NOT_ALLOWED,
        {
            "open a raw socket": "got(socket.socket(2, socket.SOCK_RAW, 1))",
            "open a raw IPv6 socket": "got(socket.socket(10, socket.SOCK_RAW, 58))",
        },
    ),
    *_group(
        "sockets",
        ("EPROTONOSUPPORT",),
        {"open an SCTP socket": "got(socket.socket(2, socket.SOCK_STREAM, 132))"},
    ),
    *_group(
        "network",
        ("ENETUNREACH", "EADDRNOTAVAIL", "EHOSTUNREACH"),
        {
            "connect to the internet": """
got(socket.create_connection(('1.1.1.1', 443), 2))""",
            "connect to the internet by IPv6": """
got(socket.create_connection(('2606:4700:4700::1111', 443), 2))""",
            "ask a name server": """
s = socket.socket(2, socket.SOCK_DGRAM)
got(s.sendto(bytes(12), ('8.8.8.8', 53)))""",
            "ask the cloud's metadata service": """
got(socket.create_connection(('169.254.169.254', 80), 2))""",
            "send to the local network": """
s = socket.socket(2, socket.SOCK_DGRAM)
got(s.sendto(b'x', ('192.168.0.255', 9)))""",
        },
    ),
    *_group(
        "network",
        ("ECONNREFUSED",),
        {
            "connect to the host's loopback": """
got(socket.create_connection(('127.0.0.1', arena['port']), 2))""",
            "connect to the host's loopback by IPv6": """
got(socket.create_connection(('::1', arena['port']), 2))""",
            "connect to the host's abstract socket": """
s = socket.socket(socket.AF_UNIX)
got(s.connect('\\0' + arena['abstract']))""",
        },
    ),
    *_group(
        "network",
        _HIDDEN,
        {
            "connect to the host's socket by path": """
s = socket.socket(socket.AF_UNIX)
got(s.connect(arena['socket']))""",
            "talk to the container engine": """
s = socket.socket(socket.AF_UNIX)
got(s.connect('/var/run/docker.sock'))""",
            "talk to the message bus": """
s = socket.socket(socket.AF_UNIX)
got(s.connect('/run/dbus/system_bus_socket'))""",
            "write to the system's log": """
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
got(s.connect('/dev/log'))""",
        },
    ),
    *_group(
        "network",
        ("no name",),
        {"resolve a name": "got(socket.getaddrinfo('example.com', 443))"},
    ),
)
INHERITED = (
    *_group(
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
    *_group(
        "inherited",
        ("ENXIO",),
        {"open the controlling terminal": "got(os.open('/dev/tty', os.O_RDWR))"},
    ),
    *_group(
        "inherited",
        _NOT_ALLOWED,
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
PRIVILEGES = (
    *_group(
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
    *_group(
        "privileges",
        ("EACCES", "EPERM"),
        {"run before everybody else": "got(os.setpriority(os.PRIO_PROCESS, 0, -20))"},
    ),
    *_group(
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
    *_group(
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
    *_group(
        "limits",
        ("ENOMEM",),
        {"take more memory than allowed": "got(len(bytearray(arena['memory'] + 2**20)))"},
    ),
    *_group(
        "limits",
        ("EMFILE",),
        {
            "open more files than allowed": """
got(len([os.open('/dev/null', os.O_RDONLY) for n in range(arena['open_files'] + 1)]))""",
        },
    ),
    *_group(
        "limits",
        ("EFBIG", "signal 25"),
        {
            "write a larger file than allowed": """
f = os.open(arena['work'] + '/large', os.O_CREAT | os.O_WRONLY)
os.lseek(f, arena['file'], 0)
got(os.write(f, b'x'))""",
        },
    ),
    *_group(
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

WORKS = _group(
    "works",
    ("nothing",),
    {
        "read what is granted": """
if read(arena['library'] + '/page.txt') != 'page': got('another text')""",
        "write what is granted": """
write(arena['work'] + '/note', 'mine')
if read(arena['work'] + '/note') != 'mine': got('another text')""",
        "use scratch space and home": """
for folder in ('/tmp', '/dev/shm', os.environ['HOME']):
    write(folder + '/note', 'mine')""",
        "start a program": """
import subprocess
if subprocess.run(['true']).returncode: got('failed')""",
        "start a thread": """
import threading
thread = threading.Thread(target=print, args=('',), kwargs={'end': ''})
thread.start()
thread.join()""",
        "talk to itself": """
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(server.getsockname(), 2)
server.accept()[0].send(b'x')
if client.recv(1) != b'x': got('nothing heard')""",
        "use a unix socket of its own": """
server = socket.socket(socket.AF_UNIX)
server.bind('/tmp/own.sock')
server.listen()
socket.socket(socket.AF_UNIX).connect('/tmp/own.sock')""",
    },
)
"""What has to work in every box: a wall without a door is no sandbox either."""

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
)
