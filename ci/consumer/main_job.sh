#!/bin/sh
# The main job of an installed Steertag, in a directory that most users cannot write: the whole server suite, in two
# processes, against the reference server as a program of its own. Nothing is left untested.
set -eu

start_limit_s=10 # until the server listens
folder=$(mktemp --directory)
cd /
steertag serve --listen iwarp://127.0.0.1:0 --listen tcp://127.0.0.1:0 --port-file "$folder/ports" &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -r "$folder"' EXIT
# shellcheck disable=SC2016 # of the inner shell
timeout "$start_limit_s" sh -c 'until [ -s "$0" ]; do sleep 0.05; done' "$folder/ports"
{
  read -r rdma
  read -r tcp
} <"$folder/ports"
steertag test "iwarp://127.0.0.1:$rdma/export" --tcp "tcp://127.0.0.1:$tcp" -n 2 -q \
  --allow-destructive --require-complete --report "$folder/report"
