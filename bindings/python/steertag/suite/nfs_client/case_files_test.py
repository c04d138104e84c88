"""The files of a case with a server that gives too much, or lists names without end."""

import types

import pytest

from steertag.suite.cases import kinds
from steertag.suite.cases.case_end import Failed
from steertag.suite.nfs_client import case_files
from steertag.suite.nfs_client.case_files import Files, MOST_REMOVED, SMALL_INLINE_DATA


def reply(**fields):
    return types.SimpleNamespace(
        kind=kinds.REPLY, result=types.SimpleNamespace(ok=types.SimpleNamespace(**fields))
    )


class Answered(Files):
    """Files of a server whose answers the test gives, by procedure."""

    def __init__(self, answers):
        super().__init__(None, types.SimpleNamespace(unique="1"), None, "case", None)
        self._conn = types.SimpleNamespace(open=True, inline_octets=1024, owed="RFC8166-3.3.3-1")
        self.answers, self.asked = answers, []

    def _outcome(self, procedure, fields):
        self.asked.append(procedure)
        return self.answers[procedure]


@pytest.mark.parametrize(
    "data, eof, detail",
    [
        (bytes(SMALL_INLINE_DATA + 1), True, "READ of 512 octets gives 513"),
        (b"x", False, "READs of a file come to no end"),
        (b"", False, "READs of a file come to no end"),
    ],
)
def test_a_file_that_cannot_be_so_is_a_failure(data, eof, detail):
    files = Answered({"READ": reply(data=data, eof=eof)})
    with pytest.raises(Failed, match="preparing the case: READ gave garbage") as caught:
        files.read(b"handle")
    assert detail in caught.value.detail
    assert len(files.asked) <= case_files.MOST_READS


@pytest.mark.parametrize("removable", [True, False])
def test_names_without_end_end_a_clean_up(removable):
    names = [types.SimpleNamespace(name=f"name-{number}") for number in range(100)]
    refused = types.SimpleNamespace(kind="nfs:NFS3ERR_ISDIR")
    files = Answered(
        {
            "MKDIR": reply(obj=b"directory"),
            "LOOKUP": reply(object=b"directory"),
            "READDIR": reply(entries=names),
            "REMOVE": reply() if removable else refused,
            "RMDIR": reply(),
        }
    )
    files._make_directory(b"root", "mine")
    files.clean_up()
    assert files.asked.count("REMOVE") <= MOST_REMOVED
    assert files.asked[-1] == "RMDIR"
