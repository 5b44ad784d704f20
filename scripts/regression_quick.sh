#!/bin/sh
# A quick regression against the running server: `astra smoke`, under the name that some know.
# Arguments are passed on, such as --json or --data-root FOLDER.
set -eu
here=$(dirname "$0")
astra=$here/../.venv/bin/astra
[ -x "$astra" ] || astra=astra
exec "$astra" smoke "$@"
