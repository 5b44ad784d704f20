"""Enters a network namespace, listens there, and passes the sockets to its parent.

Run as a program of its own: `_listen.py SOCKET NAMESPACE PORT...`. It imports nothing of Astra,
because it is started with `-I -S` to be quick.
"""

import array
import ctypes
import fcntl
import socket
import sys

_OWNER_OF = 0xB701  # NS_GET_USERNS
_NEW_USERS, _NEW_NETWORK = 0x10000000, 0x40000000
_IP_FREEBIND = 15
_BACKLOG = 64


def main(words: list[str]) -> int:
    parent, namespace, *ports = map(int, words)
    libc = ctypes.CDLL(None, use_errno=True)
    owner = fcntl.ioctl(namespace, _OWNER_OF)
    if libc.setns(owner, _NEW_USERS) or libc.setns(namespace, _NEW_NETWORK):
        return 1
    listeners = [open_listener(port) for port in ports]
    handles = array.array("i", [sock.fileno() for sock in listeners])
    with socket.socket(fileno=parent) as channel:
        channel.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
    return 0


def open_listener(port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # bwrap may not have brought loopback up yet.
    sock.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
    sock.bind(("127.0.0.1", port))
    sock.listen(_BACKLOG)
    return sock


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
