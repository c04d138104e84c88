"""The profile's commands for a silent third-party target: whether it is dead, and how to restart
it."""

import subprocess

from .server_process import CannotStart

# A virtual machine under software emulation boots in 20 s on an idle host.
RESTART_LIMIT_S = 180
# A machine may fail its first boot; a second failure is reported.
RESTARTS = 2
# Limit of the check whether a machine is up.
LOOK_LIMIT_S = 10


def has_died(command):
    """Whether the command exits with status 0. False without a command, or if it cannot run."""
    if not command:
        return False
    try:
        return _run(command, LOOK_LIMIT_S).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def restart_target(command):
    """Runs the command and waits for its end. Exit status 0 means that the target listens at its
    old URL. Raises CannotStart with one sentence."""
    run_command(command, RESTART_LIMIT_S)


def run_command(command, limit_s):
    """Runs a command of a profile to its end. Raises CannotStart with one sentence, also where it fails."""
    words = " ".join(command)
    try:
        done = _run(command, limit_s)
    except OSError as error:
        raise CannotStart(f"cannot run {words!r}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise CannotStart(f"{words!r} did not end within {limit_s} s") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1] if said else f"exit status {done.returncode}"
        raise CannotStart(f"{words!r} failed: {reason}")


def _run(command, limit_s):
    """The ended command, with its stderr."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=limit_s,
        check=False,
    )
