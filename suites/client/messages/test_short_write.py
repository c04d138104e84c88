"""WRITEs that take fewer octets than they brought (RFC 1813 3.3.7, RFC 8881 18.32.4)."""

import pytest

from steertag.suite import ANY, case, client_kinds as kinds, expect
from steertag.suite.client.script import Script
from ..call_kinds import word, words
from ..client_verdicts import expect_or
from .file_change import bent_reply, change_of, END3

VERSIONS = {"version-3": "RFC1813-3.3.7-3", "version-4": "RFC8881-18.32.4-1"}
# How many octets a WRITE of so many has taken; the last does so twice.
TAKEN = {
    "one-octet": lambda count: 1,
    "half": lambda count: count // 2,
    "all-but-one": lambda count: count - 1,
    "half-of-half": lambda count: count // 2,
}
# A WRITE of fewer octets may be inline, and then tells less of how a client counts what is in chunks.
SMALLEST = 4096
TELLS = "it tells its user that not all was written"


class ShortWrites(Script):
    """The first WRITE takes a part of its octets, says the server. So does, `times` being 2, the one that brings the
    others. In truth it has taken all: the case looks at later WRITEs."""

    def __init__(self, taken, times):
        self._taken, self._times = taken, times
        self._writes = []
        self.short = []  # (Change, octets that were taken, how many WRITEs had come)

    @property
    def waits(self):
        return not self.short

    def on_call(self, conn, call):
        change = change_of(call)
        if change is not None and change.name == "WRITE":
            self._writes.append(change)

    def _is_next(self, change):
        if len(self.short) == self._times or change.count < SMALLEST:
            return False
        if not self.short:
            return True
        first, taken, _ = self.short[-1]
        return change is not first and change.covers(first.offset + taken)

    def on_reply(self, conn, call, reply):
        change = next((each for each in reversed(self._writes) if each.xid == word(call, 0)), None)
        if change is None or not self._is_next(change):
            return None
        taken = self._taken(change.count)

        def bend3(whole):
            at = len(whole) - END3["WRITE"]
            return whole[:at] + words(taken) + whole[at + 4 :]

        def bend4(ok):
            ok.count = taken

        octets = bent_reply(change, reply, bend3, bend4)
        if octets is not None:
            self.short.append((change, taken, len(self._writes)))
        return octets

    def missing(self):
        """Octets that a WRITE has left and that none has brought since."""
        return sum(self._missing(*each) for each in self.short)

    def _missing(self, change, taken, came):
        at, end = change.offset + taken, change.offset + change.count
        missing = 0
        for each in sorted(self._writes[came:], key=lambda later: later.offset):
            missing += max(0, min(each.offset, end) - at)
            at = max(at, min(each.offset + each.count, end))
        return missing + end - at


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", TAKEN)
@case("client.short-write.{name}.{version}", requirements=list(VERSIONS.values()), over=ANY)
def test_short_write(bench, name, version):
    """A WRITE takes fewer octets than it brought. The client writes the others by another one."""
    requirement, is_3 = VERSIONS[version], version == "version-3"
    if not bench.client.ours:
        bench.need("client-nfs3" if is_3 else "client-nfs4.1")
    script = ShortWrites(TAKEN[name], 2 if name == "half-of-half" else 1)
    outcome = bench.use(script, own=["--nfs", "3" if is_3 else "4.1"])
    if not script.short:
        bench.not_testable("the client writes too little by one WRITE")
    expect_or(bench, outcome, requirement, kinds.COMPLETED, {kinds.REFUSED: TELLS})
    if outcome.kind in kinds.DONE:
        what = "octets that a WRITE has left, and that came no more"
        expect.equal(script.missing(), 0, requirement, what, outcome=outcome)
