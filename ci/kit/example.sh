#!/usr/bin/env bash
# A CI job without a service: starts a server, tests it, ends it. Put your server in place of the bundled one.
set -euo pipefail
kit=$(dirname "$(readlink -f "$0")")

coproc server { exec steertag serve --listen iwarp://127.0.0.1:0; }
trap 'kill "$server_PID"' EXIT
read -r _ _ url <&"${server[0]}" # "listening at URL"

STEERTAG_TARGET=$url/export "$kit/run" "$@"
