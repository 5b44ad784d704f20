"""Serves the model of `make autonomy` on loopback, as an OpenAI-compatible endpoint.

Run it with the Python of `.venv-autonomy`. It prints its address and serves until its input closes.
Schemas (`response_format`) are grammars for it, and tools are part of the model's own template.

    .venv-autonomy/bin/python scripts/autonomy_server.py .venv-autonomy/NAME.gguf
"""

import os
import sys

CONTEXT = 8_192


def main(model: str) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel, params.use_jinja = CONTEXT, 1, True
    threads = int(os.environ.get("AUTONOMY_THREADS", "2"))
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
