"""A pytest plugin: the file that a client copies is a small one, and so are the captures of that."""

from steertag.suite import client_bench

# Beyond the inline threshold of either side (4096 octets), so that there are chunks.
client_bench.TRANSFER_BYTES = 4608
# One whole transfer, and an end that fits inline and has an odd length.
client_bench.SOURCE_BYTES = client_bench.TRANSFER_BYTES + 1027
