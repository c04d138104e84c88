"""A file whose content is known, and users of direct access who hold references to it (docs/direct-access.md)."""

import random

from steertag.nfs import direct
from steertag.suite import expect, kinds
from steertag.suite.nfs_client.nfs_message import auth_sys
from ..direct_user import DirectUser
from .shared_file import SharedFile

OWN, PERMITTED, FRESH, READERS = "ODAFS-7", "ODAFS-8", "ODAFS-9", "ODAFS-10"
REGISTERED, ZEROS = "ODAFS-26", "ODAFS-32"
# Blocks that a file of a model has at most.
BLOCKS = 3
# References by which a user reads after each change: the newest ones.
MOST_READ = 8
# Another user than the suite's, who is neither owner nor in the group.
STRANGER = 4711
OPEN_MODE, PRIVATE_MODE = 0o666, 0o600


class ModelledFile(SharedFile):
    """A file whose content is known, also where it was never written."""

    def __init__(self, bench, block, content):
        super().__init__(bench, content)
        self.model = bytearray(content)
        self._block = block

    def resize(self, size):
        self.set_attributes(size=size)
        self.model = self.model[:size].ljust(size, b"\0")

    def store(self, offset, data):
        self.write_at(offset, data)
        self.model = self.model.ljust(offset, b"\0")
        self.model[offset : offset + len(data)] = data

    def replace(self, content):
        super().replace(content)
        self.model = bytearray(content)

    def block_at(self, offset):
        return bytes(self.model[offset : offset + self._block])


def expect_content(user, reference, file, requirement_id, is_new=False):
    """The frame of the reference is invalid, unless it is new, or has what the file has."""
    frame = user.expect_frame(reference, REGISTERED)
    data = direct.open_frame(frame, reference.generation)
    expect.true(data is not None or not is_new, OWN, "the frame of a grant is valid")
    if data is not None:
        wanted = file.block_at(reference.offset)
        expect.data(data, wanted, requirement_id, "data of a valid frame")


class _Holder:
    """A user with the references that it holds."""

    def __init__(self, user, is_owner):
        self.user, self.is_owner = user, is_owner
        self.forget()

    def forget(self):
        """Its optimistic connection is another one."""
        self.held = []  # references
        self.returned = []
        self.void = set()  # generations of references that a change has revoked for ever


class DirectModel:
    """Two users beside changes of a file: its owner (0) and a stranger (1). Methods are steps in any order. After each
    change both read by every reference that they hold. A place is given as a block and an offset from its beginning,
    which may be negative; a reference by any number."""

    # ODAFS ids that the steps assert.
    REQUIREMENTS = (OWN, PERMITTED, FRESH, READERS, REGISTERED, ZEROS)

    def __init__(self, bench, seed, length):
        owner, stranger = DirectUser(bench), DirectUser(
            bench, credential=auth_sys(STRANGER, STRANGER)
        )
        self._holders = [_Holder(owner, True), _Holder(stranger, False)]
        self._block = owner.terms.block_bytes
        self._file = ModelledFile(bench, self._block, _octets(seed, length))
        self._mode = OPEN_MODE
        for number in range(len(self._holders)):
            self.grant(number, 0, BLOCKS)

    def _place(self, block, delta):
        return max(0, block * self._block + delta)

    # -- changes by another client -----------------------------------------------------------------

    def write(self, block, delta, length, seed):
        self._file.store(self._place(block, delta), _octets(seed, length))
        self._read_all()

    def resize(self, block, delta):
        self._file.resize(self._place(block, delta))
        self._read_all()

    def set_mode(self, mode):
        self._file.set_mode(self._file.file, mode)
        if self._mode != mode and mode == PRIVATE_MODE:
            self._revoke(who=lambda holder: not holder.is_owner)
        self._mode = mode
        self._read_all()

    def replace(self, seed, length):
        """The file is removed, and another one has its name."""
        self._file.replace(_octets(seed, length))
        self._mode = OPEN_MODE
        self._revoke()
        self._read_all()

    def _revoke(self, who=lambda holder: True):
        for holder in filter(who, self._holders):
            holder.void |= {each.generation for each in holder.held}

    # -- grants --------------------------------------------------------------------------------------

    def grant(self, number, block, want):
        """REFS, and a Read by each new reference."""
        holder = self._holders[number]
        asked = holder.user.refs_args(self._file.file, want, block * self._block)
        outcome = self._expect_permitted(holder, holder.user.exchange("REFS", asked))
        if outcome:
            self._take(holder, outcome.result.resok4.refs)

    def read_by_rpc(self, number, block, delta, count, want):
        """READ with references beside the data."""
        holder = self._holders[number]
        offset = self._place(block, delta)
        asked = direct.ReadArgs(file=self._file.file, offset=offset, count=count, want_refs=want)
        outcome = self._expect_permitted(holder, holder.user.exchange("READ", asked))
        if not outcome:
            return
        found = outcome.result.resok4
        wanted = bytes(self._file.model[offset : offset + count])[: len(found.data)]
        expect.data(found.data, wanted, FRESH, "data of READ", outcome=outcome)
        self._take(holder, found.refs)

    def _expect_permitted(self, holder, outcome):
        """The outcome if its user may read the file; otherwise none, and the right error."""
        if holder.is_owner or self._mode == OPEN_MODE:
            return expect(outcome, PERMITTED, must=[kinds.REPLY])
        expect(outcome, PERMITTED, must=["nfs:NFS4ERR_ACCESS"])
        return None

    def _take(self, holder, references):
        for each in references:
            expect.true(
                each.generation not in holder.void, OWN, "a new grant has another generation"
            )
            expect_content(holder.user, each, self._file, ZEROS, is_new=True)
            if each not in holder.held:
                holder.held.append(each)

    # -- references in use ---------------------------------------------------------------------------

    def _read_all(self):
        """Optimistic Reads by references of any age."""
        for holder in self._holders:
            for each in holder.held[-MOST_READ:]:
                self._read(holder, each)

    def _read(self, holder, reference):
        if reference.generation in holder.void:
            frame = holder.user.expect_frame(reference, REGISTERED)
            data = direct.open_frame(frame, reference.generation)
            expect.true(data is None, READERS, "no frame of before the change is valid")
        else:
            expect_content(holder.user, reference, self._file, FRESH)

    def give_back(self, number, which):
        holder = self._holders[number]
        if not holder.held:
            return
        reference = holder.held.pop(which % len(holder.held))
        holder.user.result("RETURN", direct.ReturnArgs(refs=[reference]))
        holder.returned.append(reference)

    def read_returned(self, number, which):
        """A Read by a reference that was given back. It may end the connection; another one follows."""
        holder = self._holders[number]
        if not holder.returned:
            return
        reference = holder.returned[which % len(holder.returned)]
        frame = holder.user.optimistic.frame(reference)
        data = None if frame is None else direct.open_frame(frame, reference.generation)
        if data is not None:
            expect.true(reference.generation not in holder.void, READERS, "a void frame is invalid")
            expect.data(data, self._file.block_at(reference.offset), FRESH, "data of a valid frame")
        if frame is None:
            self.start_again(number)

    def start_again(self, number):
        """HELLO and another optimistic connection: no reference of before counts."""
        holder = self._holders[number]
        holder.user.hello()
        holder.user.open()
        holder.forget()


def _octets(seed, length):
    return random.Random(seed).randbytes(length)
