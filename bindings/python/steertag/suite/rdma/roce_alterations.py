"""Alterations of packets of RoCEv2, for the cases of both roles."""

from . import roce_packets as roce

# Added to the right PSN.
PSNS = {"ahead-one": 1, "ahead-far": 0x100000, "behind-one": -1, "behind-far": -0x100000}
# In place of an R_Key that the other side has offered.
KEYS = {"zero": 0, "one": 1, "arbitrary": 0x5EED1000, "largest": 0xFFFFFFFF}
# A Send of one packet with the opcode of another one.
OPCODES = {"middle": 0x01, "last": 0x02, "write-middle": 0x07, "write-last": 0x08}
PARTITION, CRC = "IBA-10.9-1", "IBA-A17-1"
# Of a packet that has to be dropped without a word: arguments of roce_packets.bent, and the row that says so.
DROPPED = {
    "crc": (dict(bad_crc=True), CRC),
    "cut": (dict(cut=20, bad_crc=True), CRC),
    "partition": (dict(patches=[(roce.PARTITION_AT, b"\x12\x34")]), PARTITION),
}
