"""The paragraph on what a run will not test."""

import types

from steertag.suite.cases.case import Case
from steertag.suite.cases.case_end import HarnessError, NotTestable, Unsupported
from steertag.suite.run.gaps import find_gaps, Gap, gap_lines, MOST_TOPICS, topics_of, WIDTH

ENDS = {
    "tcp": NotTestable("needs tcp: no URL", "port 2049 was tried: refused", remedy="--tcp URL"),
    "nfs41": Unsupported("needs nfs41: PROG_MISMATCH"),
    "large-inline": HarnessError("the target cannot be asked"),
}


def case_of(case_id, *needs):
    made = Case(case_id, ("RFC8166-4.2.4-1",), needs, "safe", False, {}, ())
    return made, case_id


class Session:
    """Lacks what ENDS names."""

    def __init__(self, bundled=False):
        self.bundled = bundled

    @staticmethod
    def check_needs(case):
        for need in case.needs:
            raise ENDS[need]


CASES = [
    case_of("server.header.null"),
    case_of("server.records.one", "tcp"),
    case_of("server.nfs4.session", "nfs41"),
    case_of("server.records.two", "tcp"),
    case_of("server.inline.large", "large-inline"),
]


def test_gaps_are_folded_by_reason():
    tcp = ("server.records.one", "server.records.two")
    assert find_gaps(CASES, Session()) == [
        Gap(
            "not-testable",
            "needs tcp: no URL",
            "port 2049 was tried: refused",
            "--tcp URL",
            tcp,
        ),
        Gap("unsupported", "needs nfs41: PROG_MISMATCH", "", "", ("server.nfs4.session",)),
    ]


def test_the_bundled_server_is_not_asked_before_the_run():
    assert [gap.reason for gap in find_gaps(CASES, Session(bundled=True))] == ["needs tcp: no URL"]


def test_the_option_that_helps_is_named():
    lines = gap_lines(find_gaps(CASES, Session()), len(CASES))
    assert lines[0] == "not tested: 3 of 5 cases"
    text = " ".join(" ".join(lines).split())
    assert "2 not-testable, on records 2: needs tcp: no URL (port 2049 was tried" in text
    assert "refused); give --tcp URL" in text
    assert text.endswith("1 unsupported, on nfs4 1: needs nfs41: PROG_MISMATCH")
    assert max(map(len, lines)) <= WIDTH


def test_nothing_is_told_of_a_whole_run():
    assert gap_lines([], 5) == []
    (line,) = gap_lines([], 5, "tcp://host:2049")
    assert line.startswith("tcp://host:2049 answers NFS")


def test_topics_with_few_cases_share_a_word():
    ids = [f"server.{topic}.{n}" for n, topic in enumerate("aaabbcdefg")]
    assert topics_of(ids) == "a 3, b 2, c 1, d 1, others 3"
    assert topics_of(ids[:3]) == "a 3" and MOST_TOPICS == 4


def test_a_probe_that_stumbles_is_the_matter_of_its_case():
    def check_needs(_):
        raise AttributeError

    session = types.SimpleNamespace(bundled=False, check_needs=check_needs)
    assert not find_gaps(CASES, session)
