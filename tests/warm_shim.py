"""Have a warm process run a module of Astra, and be it for whoever started this program.

    python -I -S warm_shim.py SOCKET FDS MODULE ARGUMENT…

Standard input, output and error, the descriptors named in FDS, the environment, the folder and
which signals are ignored are handed over. Signals are passed on, the exit is handed back, and the
end of this program is the end of the other. It imports next to nothing: its start is all that a
test still waits for.
"""

import _socket
import marshal
import os
import signal
import sys

FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1)


def main() -> None:
    address, numbers, *command = sys.argv[1:]
    descriptors = [0, 1, 2, *map(int, filter(None, numbers.split(",")))]
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(address)
    folder = os.getcwd()  # noqa: PTH109 - pathlib takes longer to import than all of this
    handlers = {int(number): signal.getsignal(number) for number in FORWARDED}
    ignored = [number for number, handler in handlers.items() if handler == signal.SIG_IGN]
    request = (command, dict(os.environ), folder, descriptors, ignored)
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)  # a signal waits until the request is out
    for number in FORWARDED:
        if number not in ignored:
            signal.signal(number, lambda signum, _: pass_on(connection, signum))
    hand_over(connection, request, descriptors)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    for number in descriptors:
        os.close(number)  # whoever reads the other end waits for the last writer
    end_as(int.from_bytes(read_code(connection), "big", signed=True))


def hand_over(connection, request, descriptors) -> None:  # noqa: ANN001 - see what it imports
    """Send a request for a process, and the descriptors that it is to have."""
    packed = marshal.dumps(request)
    rights = b"".join(number.to_bytes(4, sys.byteorder) for number in descriptors)
    connection.sendmsg(
        [len(packed).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)]
    )
    connection.sendall(packed)


def pass_on(connection: _socket.socket, number: int) -> None:
    try:
        connection.send(bytes([number]))
    except OSError:
        return  # it has ended, and its exit is on its way


def read_code(connection: _socket.socket) -> bytes:
    if not (code := connection.recv(4)):
        sys.exit("the warm process went away")
    return code


def end_as(code: int) -> None:
    """Exit with a code, or die by the signal that a negative one names."""
    if code >= 0:
        os._exit(code)
    if -code in FORWARDED:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)


if __name__ == "__main__":
    main()
