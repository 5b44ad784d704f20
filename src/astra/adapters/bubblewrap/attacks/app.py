"""Attempts of an app on the host's network, which shares its port with its successor.

`PORTS` are tried where the kernel has rules for ports; elsewhere `astra status` says that it has
none.
"""

from astra.adapters.bubblewrap.attacks.attack import NOT_ALLOWED, Attack, make_attacks
from astra.trusted.sandbox import landlock

_STEERING = make_attacks(
    "app",
    NOT_ALLOWED,
    {
        "join a port with a second socket": """
first = socket.socket()
first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
got('shares its port')""",
        "steer the connections of a port": """
listener = socket.create_server(('127.0.0.1', 0))
code = ctypes.create_string_buffer(8)
listener.setsockopt(socket.SOL_SOCKET, 51, code.raw)
got('steers')""",
    },
)
_PORTS = make_attacks(
    "app",
    ("EACCES",),
    {
        "bind a port that was not granted": """
listener = socket.socket()
listener.bind(('127.0.0.1', arena['free_port']))
got(listener.getsockname())""",
        "bind a port that was not granted, on every address": """
listener = socket.socket(socket.AF_INET6)
listener.bind(('::', arena['free_port']))
got(listener.getsockname())""",
        "turn a connection into a listener": """
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
taken = listener.accept()[0]
ctypes.CDLL(None).connect(taken.fileno(), bytes(16), 16)
taken.bind(listener.getsockname())
taken.listen()
got('listens')""",
    },
)


def app_attacks() -> tuple[Attack, ...]:
    return (*_STEERING, *(_PORTS if landlock.has_port_rules() else ()))
