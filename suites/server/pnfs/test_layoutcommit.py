"""LAYOUTCOMMIT: size, time, iomode and reclaim (RFC 8881 12.5.4, 18.42)."""

from steertag.suite import ANY, case, expect, kinds
from steertag.suite.nfs_client.layout_user import LayoutUser, READ_LAYOUT
from .layout_checks import NEEDS, NFS4, attributes, commit_at_data_servers, user_with_layout
from .layout_checks import written

SHOWN, TIME, KEPT = "RFC8881-12.5.4-2", "RFC8881-12.5.4.1-1", "RFC8881-12.5.4.2-1"
REPLY, IOMODE, RECLAIM = "RFC8881-12.5.4.2-2", "RFC8881-18.42.3-1", "RFC8881-18.42.3-2"
BEHIND = 10  # octets that LAYOUTCOMMIT adds
HOUR_S = 3600


def new_size(outcome):
    return outcome.result["LAYOUTCOMMIT"].resok4.locr_newsize


@case(
    "server.pnfs.layoutcommit.size",
    requirements=[SHOWN],
    needs=NEEDS,
    over=ANY,
)
def test_size(bench):
    """A file that only data servers wrote has its size for another client after LAYOUTCOMMIT."""
    user = user_with_layout(bench)
    content = written(bench, user, SHOWN)
    expect(user.layout_commit(len(content) - 1), SHOWN, must=[kinds.REPLY])
    other = LayoutUser(bench, name=user.name)
    expect.equal(attributes(other, "size")["size"], len(content), SHOWN, "size after LAYOUTCOMMIT")


@case("server.pnfs.layoutcommit.change", requirements=[SHOWN], needs=NEEDS, over=ANY)
def test_change(bench):
    """A file that two clients have written at data servers, one after the other. After the LAYOUTCOMMIT of each its change
    attribute is another one."""
    user = user_with_layout(bench)
    second = LayoutUser(bench, name=user.name)
    second.use_layout()
    for writer, reader in ((user, second), (second, user)):
        before = attributes(reader, "change")["change"]
        content = written(bench, writer, SHOWN)
        commit_at_data_servers(writer, SHOWN)
        expect(writer.layout_commit(len(content) - 1), SHOWN, must=[kinds.REPLY])
        after = attributes(reader, "change")["change"]
        expect.true(after != before, SHOWN, "the change attribute changes")


@case("server.pnfs.layoutcommit.new-size", requirements=[REPLY], needs=NEEDS, over=ANY)
def test_new_size(bench):
    """LAYOUTCOMMIT with a last write offset behind the end. If the size changes, the reply has it, and else none."""
    user = user_with_layout(bench)
    content = written(bench, user, REPLY)
    _expect_new_size(user, len(content) - 1 + BEHIND)


@case("server.pnfs.layoutcommit.same-size", requirements=[REPLY], needs=NEEDS, over=ANY)
def test_same_size(bench):
    """A second LAYOUTCOMMIT with the last octet of the file. The size stays, and the reply has none."""
    user = user_with_layout(bench)
    content = written(bench, user, REPLY)
    for _ in range(2):
        before, after = _expect_new_size(user, len(content) - 1)
    expect.equal(after, before, REPLY, "size after the second LAYOUTCOMMIT")


def _expect_new_size(user, last):
    """LAYOUTCOMMIT of this last write offset: (size before, size after). The reply has the size if it changes."""
    before = attributes(user, "size")["size"]
    outcome = expect(user.layout_commit(last), REPLY, must=[kinds.REPLY])
    after = attributes(user, "size")["size"]
    size = new_size(outcome)
    if after == before:
        expect.true(not size.ns_sizechanged, REPLY, "no new size in the reply", outcome=outcome)
    else:
        expect.true(size.ns_sizechanged, REPLY, "a new size in the reply", outcome=outcome)
        expect.equal(size.ns_size, after, REPLY, "ns_size", outcome=outcome)
    return before, after


@case("server.pnfs.layoutcommit.smaller", requirements=[KEPT], needs=NEEDS, over=ANY)
def test_smaller(bench):
    """LAYOUTCOMMIT with a last write offset of 0 truncates nothing."""
    user = user_with_layout(bench)
    content = written(bench, user, KEPT)
    expect(user.layout_commit(len(content) - 1), KEPT, must=[kinds.REPLY])
    outcome = expect(user.layout_commit(0), KEPT, must=[kinds.REPLY])
    size = attributes(user, "size")["size"]
    expect.equal(size, len(content), KEPT, "size after LAYOUTCOMMIT", outcome=outcome)


@case("server.pnfs.layoutcommit.time", requirements=[TIME], needs=NEEDS, over=ANY)
def test_time(bench):
    """LAYOUTCOMMIT that suggests a time_modify of 1970 does not set it back."""
    user = user_with_layout(bench)
    content = written(bench, user, TIME)
    expect(user.layout_commit(len(content) - 1), TIME, must=[kinds.REPLY])
    before = _modified(user)
    past = NFS4.Time(seconds=1, nseconds=0)
    outcome = expect(user.layout_commit(len(content) - 1, past), TIME, must=[kinds.REPLY])
    expect.at_least(_modified(user), before, TIME, "time_modify", outcome=outcome)


@case("server.pnfs.layoutcommit.time-later", requirements=[TIME], needs=NEEDS, over=ANY)
def test_later_time(bench):
    """LAYOUTCOMMIT that suggests a time_modify in an hour. The server takes that, its own time, or leaves the former
    one: RFC 8881 12.5.4.1 permits all three. A second one that suggests half an hour sets nothing back.
    """
    user = user_with_layout(bench)
    content = written(bench, user, TIME)
    expect(user.layout_commit(len(content) - 1), TIME, must=[kinds.REPLY])
    before = _modified(user)
    later = NFS4.Time(seconds=before[0] + HOUR_S, nseconds=0)
    outcome = expect(user.layout_commit(len(content) - 1, later), TIME, must=[kinds.REPLY])
    after = _modified(user)
    expect.at_least(after, before, TIME, "time_modify", outcome=outcome)
    expect.at_most(after, (later.seconds, 0), TIME, "time_modify", outcome=outcome)
    between = NFS4.Time(seconds=before[0] + HOUR_S // 2, nseconds=0)
    outcome = expect(user.layout_commit(len(content) - 1, between), TIME, must=[kinds.REPLY])
    expect.at_least(_modified(user), after, TIME, "time_modify", outcome=outcome)


def _modified(user):
    time = attributes(user, "time_modify")["time_modify"]
    return time.seconds, time.nseconds


@case(
    "server.pnfs.layoutcommit.read-layout",
    requirements=[IOMODE],
    needs=NEEDS,
    over=ANY,
    hostile=True,
)
def test_read_layout(bench):
    """LAYOUTCOMMIT with a layout for reading only."""
    user = LayoutUser(bench)
    got = user.take(user.layout_get(loga_iomode=READ_LAYOUT))
    if got.logr_layout[0].lo_iomode != READ_LAYOUT:
        bench.not_testable("the target gives layouts for writing to those who ask for reading")
    refused = ["nfs:NFS4ERR_BADIOMODE", "nfs:NFS4ERR_BADLAYOUT"]
    expect(user.layout_commit(0), IOMODE, must=refused)


@case(
    "server.pnfs.layoutcommit.reclaim", requirements=[RECLAIM], needs=NEEDS, over=ANY, hostile=True
)
def test_reclaim(bench):
    """LAYOUTCOMMIT with loca_reclaim outside of a grace period."""
    outcome = user_with_layout(bench).layout_commit(0, loca_reclaim=True)
    expect(outcome, RECLAIM, must=["nfs:NFS4ERR_NO_GRACE"])
