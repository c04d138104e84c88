"""`ci/robust`."""

import signal
import sys

from ci.jobs.robust import robust_command

# What ends this command ends the load, too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
sys.exit(robust_command.main(sys.argv[1:]))
