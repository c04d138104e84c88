"""What a case reads of a COMPOUND's results: what is not there ends the case under a requirement."""

import pytest

from steertag import nfs
from steertag.suite.cases.case_end import EXCHANGES_OVER_TCP, Failed
from steertag.suite.nfs_client.compound import CompoundReply

NFS4 = nfs.nfs4
OK, FAILED = NFS4.Status.NFS4_OK, NFS4.Status.NFS4ERR_IO


def reply(*statuses, status=OK, **fields):
    results = [(NFS4.Opnum.PUTFH, NFS4.StatusResult(status=each)) for each in statuses]
    return CompoundReply(status, "", results, **fields)


def test_the_first_result_of_a_name():
    found = reply(OK, OK)
    assert found["PUTFH"] is found.results[0][1]
    assert found.all("PUTFH") == [result for _, result in found.results]


def test_a_missing_result_is_the_fault_of_the_server():
    with pytest.raises(Failed) as end:
        reply(owed=EXCHANGES_OVER_TCP)["PUTFH"]
    assert end.value.reason == "RFC5531-9-1: the answer has no result of PUTFH"


@pytest.mark.parametrize("read", [lambda it: it["PUTFH"], lambda it: it.all("PUTFH")])
def test_a_failure_in_a_compound_that_succeeded_has_no_values(read):
    with pytest.raises(Failed, match="RFC8166-3.3.3-1: .* PUTFH, which failed in a COMPOUND"):
        read(reply(OK, FAILED))
    assert read(reply(FAILED, status=FAILED))
