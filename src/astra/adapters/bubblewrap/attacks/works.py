"""What has to work in a box: a wall in front of everything would hold too."""

from astra.adapters.bubblewrap.attacks.attack import make_attacks

WORKS = make_attacks(
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
        "share memory with a child": """
import mmap
shared = mmap.mmap(-1, 2**20)
if not os.fork():
    shared[0] = 7
    os._exit(0)
os.wait()
if shared[0] != 7: got('nothing shared')""",
        "read zeros": """
with open('/dev/zero', 'rb') as zeros:
    if zeros.read(4096) != bytes(4096): got('something else')""",
        "use a unix socket of its own": """
server = socket.socket(socket.AF_UNIX)
server.bind('/tmp/own.sock')
server.listen()
socket.socket(socket.AF_UNIX).connect('/tmp/own.sock')""",
    },
)
