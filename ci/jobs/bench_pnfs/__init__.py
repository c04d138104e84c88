"""`ci/bench-pnfs`: striped files at one to eight data servers, in ratios of one run."""
