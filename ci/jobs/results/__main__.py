"""`ci/results`."""

import sys

from ci.jobs.results import results_command

sys.exit(results_command.main(sys.argv[1:]))
