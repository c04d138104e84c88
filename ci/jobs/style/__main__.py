"""The part of `ci/style` that no tool has."""

import sys

from ci.jobs.style import file_rules

sys.exit(file_rules.main(sys.argv[1:]))
