#!/usr/bin/env python3
"""A client that follows a script: `scripted_client.py COUNTER WORDS URL`.

WORDS are separated by commas. Each run of the program takes the next one, and the last word goes on. COUNTER is
a file that counts the runs."""

import os
import pathlib
import signal
import sys
import tempfile

from steertag import peer

# Own calls are answered within a moment; a server that says nothing more is not waited for.
CALL_S = 2.0
STEP_S = 1.0


def main(counter, words, url):
    runs = pathlib.Path(counter)
    number = int(runs.read_text()) if runs.exists() else 0
    runs.write_text(str(number + 1))
    words = words.split(",")
    ACTIONS[words[min(number, len(words) - 1)]](url)


def good(url):
    copy(url, lambda octets: octets)


def corrupt(url):
    copy(url, lambda octets: octets[:100] + bytes([octets[100] ^ 1]) + octets[101:])


def cut(url):
    copy(url, lambda octets: octets[:-1])


def nothing(_):
    """Says that it is done, and has done nothing."""


def refuse(_):
    sys.exit("scripted client: no")


def refuse_corrupting(url):
    corrupt(url)
    sys.exit("scripted client: no")


def refuse_half(url):
    copy(url, lambda octets: octets[:1000])
    sys.exit("scripted client: no")


def crash(_):
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)


def hang(_):
    signal.pause()


def hang_for_ever(_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pause()


def copy(url, change):
    files = peer.Files(url, version=3, timeout_s=CALL_S)
    with tempfile.TemporaryFile() as local:
        run(files.fetch(files.find("/export/source"), local.fileno()))
        local.seek(0)
        octets = change(local.read())
        local.seek(0)
        local.truncate()
        local.write(octets)
        local.flush()
        directory = files.find("/export")
        run(files.store(local.fileno(), len(octets), directory, "copy", 0o644))
    files.end()


def run(transfer):
    while not transfer.step(STEP_S):
        pass


ACTIONS = {
    "good": good,
    "corrupt": corrupt,
    "cut": cut,
    "nothing": nothing,
    "refuse": refuse,
    "refuse-corrupting": refuse_corrupting,
    "refuse-half": refuse_half,
    "crash": crash,
    "hang": hang,
    "hang-for-ever": hang_for_ever,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
