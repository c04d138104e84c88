"""`ci/bench-nfs`."""

import sys

from ci.jobs.bench_nfs import bench_nfs_command

sys.exit(bench_nfs_command.main(sys.argv[1:]))
