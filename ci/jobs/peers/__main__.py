"""`ci/peers`."""

import sys

from ci.jobs.peers import peers_command

sys.exit(peers_command.main(sys.argv[1:]))
