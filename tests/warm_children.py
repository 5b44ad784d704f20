"""Run a program with a process of its own, and start warm what it starts of Astra.

    python warm_children.py SOCKET MODULE-OR-SCRIPT ARGUMENT…

For programs that need a terminal or that are no module of Astra, and start many of its commands.
"""

import runpy
import subprocess
import sys

from warm_nursery import warm_popen


def main() -> None:
    address, program, *arguments = sys.argv[1:]
    subprocess.Popen = warm_popen(address)
    sys.argv = [program, *arguments]
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
