"""A pytest plugin: the file that a client copies is a small one, and so are the captures of that."""

import os

from steertag.suite import client_bench

# How many whole transfers the file has.
VARIABLE = "STEERTAG_SOURCE_TRANSFERS"
# Beyond the inline threshold of either side (4096 octets), so that there are chunks.
client_bench.TRANSFER_BYTES = 4608
# Behind whole transfers an end that fits inline and has an odd length.
client_bench.SOURCE_BYTES = int(os.environ[VARIABLE]) * client_bench.TRANSFER_BYTES + 1027
