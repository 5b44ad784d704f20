"""Attempts to reach something: sockets of every family."""

from astra.adapters.bubblewrap.attacks.attack import ABSENT, NOT_ALLOWED, make_attacks

SOCKETS = (
    *make_attacks(
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
    *make_attacks(
        "sockets",
        NOT_ALLOWED,
        {
            "open a raw socket": "got(socket.socket(2, socket.SOCK_RAW, 1))",
            "open a raw IPv6 socket": "got(socket.socket(10, socket.SOCK_RAW, 58))",
        },
    ),
    *make_attacks(
        "sockets",
        ("EPROTONOSUPPORT",),
        {"open an SCTP socket": "got(socket.socket(2, socket.SOCK_STREAM, 132))"},
    ),
    *make_attacks(
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
    *make_attacks(
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
    *make_attacks(
        "network",
        ABSENT,
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
    *make_attacks(
        "network",
        ("no name",),
        {"resolve a name": "got(socket.getaddrinfo('example.com', 443))"},
    ),
)
