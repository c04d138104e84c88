"""`ci/bench-pnfs`."""

import sys

from ci.jobs.bench_pnfs import bench_pnfs_command

sys.exit(bench_pnfs_command.main(sys.argv[1:]))
