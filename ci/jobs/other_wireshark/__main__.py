"""`ci/other-wireshark`."""

import sys

from ci.jobs.other_wireshark import container_build

sys.exit(container_build.main(sys.argv[1:]))
