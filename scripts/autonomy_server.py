"""Serves the model of `make autonomy` on loopback, as an OpenAI-compatible endpoint.

Run it with the Python of `.venv-autonomy`. It prints its address and serves until its input closes.
Schemas (`response_format`) are grammars for it, and tools are part of the model's own template.

    .venv-autonomy/bin/python scripts/autonomy_server.py .venv-autonomy/NAME.gguf
"""

import os
import sys

CONTEXT, BATCH = 8_192, 128
"""How much it reads at once is also how long a call that nobody wants any more goes on."""
THREADS = "AUTONOMY_THREADS"


def main(model: str) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_batch = params.n_ubatch = BATCH
    params.n_ctx, params.n_parallel, params.use_jinja = CONTEXT, 1, True
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads, cpu.poll = int(os.environ.get(THREADS) or count_free_cores()), 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


def count_free_cores() -> int:
    """Count the cores that nobody else works on, one at least.

    The threads of a model wait for each other many times in each token, so one that has to share
    its core holds up the others.
    """
    return max(1, int((os.cpu_count() or 1) - os.getloadavg()[0]))


if __name__ == "__main__":
    main(sys.argv[1])
