"""Two users of direct access beside a model of the file: no valid frame ever differs from it (docs/direct-access.md)."""

import pytest

from steertag.nfs import direct
from steertag.suite import case, expect
from .direct_user import DirectUser
from .test_direct_revocation import SharedFile

FRESH, OWN, REGISTERED, ZEROS = "ODAFS-9", "ODAFS-7", "ODAFS-26", "ODAFS-32"
NEEDS = ["direct-access"]
STEPS = 150
BLOCKS = 3
MOST_WRITTEN = 2048


class ModelledFile(SharedFile):
    """A file whose content is known."""

    def __init__(self, bench, block):
        super().__init__(bench)
        self.model = bytearray(self.content)
        self._random, self._block = bench.random, block

    def change(self):
        """A WRITE or another size, mostly near the border of a block."""
        place = self._random.choice([0, self._random.randrange(1, BLOCKS) * self._block])
        offset = max(0, place + self._random.randrange(-MOST_WRITTEN, MOST_WRITTEN))
        if self._random.random() < 0.3:
            self.set_attributes(size=offset)
            self.model = self.model[:offset].ljust(offset, b"\0")
            return
        data = self._random.randbytes(self._random.randrange(1, MOST_WRITTEN))
        self.write_at(offset, data)
        self.model = self.model.ljust(offset, b"\0")
        self.model[offset : offset + len(data)] = data

    def block_at(self, offset):
        return bytes(self.model[offset : offset + self._block])


@case("server.direct.model-{run}", requirements=[FRESH, OWN, REGISTERED, ZEROS], needs=NEEDS)
@pytest.mark.parametrize("run", range(4))
def test_model(bench, run):
    """A random sequence of changes by one client, and of grants and Reads by two others. A Read by any reference
    completes. A valid frame has what the file has at that place."""
    users = [DirectUser(bench), DirectUser(bench)]
    file = ModelledFile(bench, users[0].terms.block_bytes)
    held = {user: {} for user in users}  # (offset, generation): reference
    for _ in range(STEPS):
        user = bench.random.choice(users)
        move = bench.random.choice(["change", "grant", "read", "read"])
        if move == "change":
            file.change()
        elif move == "grant":
            for each in user.references(file.file, BLOCKS):
                held[user][each.offset, each.generation] = each
                _expect_content(user, each, file, ZEROS, is_new=True)
        elif held[user]:
            reference = bench.random.choice(list(held[user].values()))
            _expect_content(user, reference, file, FRESH)


def _expect_content(user, reference, file, requirement_id, is_new=False):
    """The frame of the reference is invalid, unless it is new, or has what the file has."""
    frame = user.expect_frame(reference, REGISTERED)
    data = direct.open_frame(frame, reference.generation)
    expect.true(data is not None or not is_new, OWN, "the frame of a grant is valid")
    if data is not None:
        wanted = file.block_at(reference.offset)
        expect.data(data, wanted, requirement_id, "data of a valid frame")
