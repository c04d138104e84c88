"""What no client can ask for: the target's administrator has it withdraw layouts, or replace or move a device of
pNFS."""

import os
import signal

from ..cases.case_end import NotTestable
from .profile import ADMINISTRATION
from .server_process import CannotStart
from .target_restart import run_command

# What the bundled server takes for each.
SIGNALS = dict(zip(ADMINISTRATION, (signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMIN), strict=True))
# A command may go over ssh to the target.
COMMAND_LIMIT_S = 30


class Administrator:
    """Of the bundled server, or of a third party by the commands of its profile."""

    def __init__(self, server, commands):
        """`server()` is the BundledServer that serves now, or None. `commands`: {what is to be done: a program and its
        arguments}."""
        self._server, self._commands = server, commands

    def act(self, what):
        """Has it done. Ends the case with NotTestable if the run has no way, or if its command fails."""
        server = self._server()
        if server is not None:
            os.kill(server.pid, SIGNALS[what])
            return
        command = self._commands.get(what)
        if not command:
            remedy = f"`administrator: {{{what}: [...]}}` in the profile"
            raise NotTestable("no request of a client makes a server do this", remedy=remedy)
        try:
            run_command(command, COMMAND_LIMIT_S)
        except CannotStart as error:
            raise NotTestable(f"administrator, {what}: {error}") from None
