"""`ci/agreement`."""

import sys

from ci.jobs.agreement import agreement_command

sys.exit(agreement_command.main(sys.argv[1:]))
