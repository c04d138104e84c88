#!/bin/sh
# What else an installed Steertag does, each once and from a directory that is not its own: the list of cases,
# explanations, a failure with its capture and replay, baselines, the suite for clients.
set -eu

folder=$(mktemp --directory)
trap 'rm -r "$folder"' EXIT
cd /

ends_with() { # STATUS COMMAND...: runs the command, whose output is shown only if it ends otherwise
  wanted=$1
  shift
  status=0
  "$@" >"$folder/output" 2>&1 </dev/null || status=$?
  if [ "$status" != "$wanted" ]; then
    cat "$folder/output"
    echo "other_jobs: \`$*\` ended with $status, not $wanted" >&2
    exit 1
  fi
}

case=server.header.version-zero
ends_with 0 steertag --version
ends_with 0 steertag
ends_with 0 steertag cases --topic header
ends_with 0 steertag explain RFC8166-4.5.1-1 "$case" grants-zero
ends_with 0 steertag matrix linux-6.1-siw steertag-server
ends_with 0 steertag mutation grants-zero --report "$folder/mutation"
ends_with 1 steertag test bundled -q --deviate grants-zero --case "$case" --report "$folder/report"
ends_with 0 steertag causes "$folder/report"
ends_with 1 steertag grade "$folder/report/captures/$case.pcapng"
ends_with 0 steertag replay "$folder/report/failures/$case.steertag"
ends_with 4 steertag test
ends_with 0 steertag test-client --listen iwarp://127.0.0.1:0 -q --topic header --report "$folder/client" -- \
  "steertag cp {url}/source $folder/copy && steertag cp $folder/copy {url}/copy"
