"""The suites of pynfs for servers of NFSv4.0 and NFSv4.1, from a built checkout."""

import json
import subprocess
import sys

from ci.jobs.peers.peer_run import CannotRun, PeerRun

# A folder for each minor version, which has the program and, once it is built, the XDR code.
FOLDERS = {0: "nfs4.0", 1: "nfs4.1"}
PROGRAM = "testserver.py"
BUILT = "xdrdef/nfs4_const.py"
# All tests of one minor version take some ten minutes. They mostly sleep.
LIMIT_S = 3600
# Characters of a failure's message that are kept.
MOST_CHARACTERS = 300


def check(checkout):
    """Raises CannotRun unless the checkout is there and built."""
    if checkout is None:
        raise CannotRun("pynfs is missing: name a built checkout by --pynfs DIR")
    for folder in FOLDERS.values():
        if not (checkout / folder / PROGRAM).exists():
            raise CannotRun(f"{checkout} is no checkout of pynfs: {folder}/{PROGRAM} is missing")
        if not (checkout / folder / BUILT).exists():
            raise CannotRun(f"{checkout} is not built: run ./setup.py build there")


def run(checkout, minorversion, port, logs):
    """All tests against 127.0.0.1:`port`; a PeerRun. Leaves pynfs-4.*.log and .json in the folder `logs`."""
    name = f"pynfs-4.{minorversion}"
    results = logs / f"{name}.json"
    results.unlink(missing_ok=True)
    command = [
        *(sys.executable, "-W", "ignore", PROGRAM, f"127.0.0.1:{port}/export", "all"),
        *("--maketree", f"--minorversion={minorversion}", f"--jsonout={results}"),
    ]
    log = logs / f"{name}.log"
    with log.open("wb") as output:
        subprocess.run(
            command,
            cwd=checkout / FOLDERS[minorversion],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
    if not results.exists():
        raise CannotRun(f"{name} ended without results, see {log}")
    return read(results)


def read(results):
    """The PeerRun of a JSON file of pynfs. A test with a warning has passed."""
    passed, failed = 0, {}
    for test in json.loads(results.read_text(encoding="utf-8"))["testcase"]:
        if "failure" in test:
            failed[test["code"]] = " ".join(test["failure"]["message"].split())[:MOST_CHARACTERS]
        elif "skipped" not in test:
            passed += 1
    return PeerRun(passed, failed)
