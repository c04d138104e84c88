"""A third-party target that does not answer: the commands of its profile tell whether it is dead, and bring
it back."""

import subprocess

from .server_process import CannotStart

# A virtual machine under software emulation boots in 20 s on an idle host.
RESTART_LIMIT_S = 180
# A machine that was restarted may trip over itself while it boots; one that does so twice is told.
RESTARTS = 2
# To look whether a machine is there.
LOOK_LIMIT_S = 10


def has_died(command):
    """Whether the command says so, by exit status 0. False without a command, and if it cannot be run."""
    if not command:
        return False
    try:
        return _run(command, LOOK_LIMIT_S).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def restart_target(command):
    """Runs the command and waits for its end; raises CannotStart with one sentence. It has succeeded
    when it exits with status 0: then the target listens at its old URL."""
    words = " ".join(command)
    try:
        done = _run(command, RESTART_LIMIT_S)
    except OSError as error:
        raise CannotStart(f"cannot run {words!r}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CannotStart(f"{words!r} did not end within {RESTART_LIMIT_S} s") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1] if said else f"exit status {done.returncode}"
        raise CannotStart(f"{words!r} failed: {reason}")


def _run(command, limit_s):
    """The ended command, with what it said on stderr."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=limit_s,
        check=False,
    )
