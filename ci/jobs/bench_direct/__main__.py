"""`ci/bench-direct`."""

import sys

from ci.jobs.bench_direct import bench_direct_command

sys.exit(bench_direct_command.main(sys.argv[1:]))
