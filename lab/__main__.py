"""`ci/lab`, the command line of the lab."""

import sys

from lab import command

sys.exit(command.main(sys.argv[1:]))
