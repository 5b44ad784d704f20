"""Enters the network of a box, and connects to one of its ports for whoever asks.

Run as a program of its own: `_dial.py SOCKET NAMESPACE PORT`. Each byte that arrives on SOCKET asks
for one connection; the answer is a byte, with the connected socket when there is one. It imports
nothing of Astra, because it is started with `-I -S` to be quick.
"""

import array
import ctypes
import fcntl
import socket
import sys

_OWNER_OF = 0xB701  # NS_GET_USERNS
_NEW_USERS, _NEW_NETWORK = 0x10000000, 0x40000000


def main(words: list[str]) -> int:
    parent, namespace, port = map(int, words)
    libc = ctypes.CDLL(None, use_errno=True)
    owner = fcntl.ioctl(namespace, _OWNER_OF)
    if libc.setns(owner, _NEW_USERS) or libc.setns(namespace, _NEW_NETWORK):
        return 1
    with socket.socket(fileno=parent) as channel:
        while channel.recv(1):
            pass_connection(channel, port)
    return 0


def pass_connection(channel: socket.socket, port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(2)
        try:
            connection.connect(("127.0.0.1", port))
        except OSError:
            channel.sendall(b"-")
            return
        connection.settimeout(None)
        handle = array.array("i", [connection.fileno()])
        channel.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handle)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
