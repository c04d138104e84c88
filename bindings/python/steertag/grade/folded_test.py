"""Repeated findings as one, in text and Markdown."""

import types

from steertag.grade import folded, markdown


def row(frame, connection=1, culprit="server", rule="grants", observed="rdma_credit 0 of 0xab"):
    requirement = types.SimpleNamespace(id="RFC8166-3.3.1-5", document="RFC8166", section="3.3.1")
    return types.SimpleNamespace(
        frame=frame,
        connection=connection,
        culprit=culprit,
        rule=rule,
        requirement=requirement,
        expected="at least 1",
        observed=observed,
        level="MUST NOT",
        sentence="A *grant* is at least 1.",
        place="RFC 8166 3.3.1",
    )


def test_only_numbers_may_differ_in_a_fold():
    rows = [
        row(7),
        row(9, observed="rdma_credit 0 of 0xcd"),
        row(11, culprit="client"),
        row(12, rule="other"),
        row(13, observed="no credit"),
    ]
    found = [[each.frame for each in fold.rows] for fold in folded.folded(rows)]
    assert found == [[7, 9], [11], [12], [13]]


def test_frames_are_listed_by_connection_and_once():
    (fold,) = folded.folded([row(7), row(7), row(9), row(20, connection=2)])
    assert fold.frames() == "4 times: frames 7, 9 of connection 1; frame 20 of connection 2"


def test_the_operation_leads_its_frames():
    (fold,) = folded.folded([row(7), row(9), row(11)])
    names = {7: "READ", 9: "WRITE", 11: "READ"}
    told = fold.frames(lambda one: names[one.frame])
    assert told == "3 times: READ: frames 7, 11 of connection 1; WRITE: frame 9 of connection 1"


def test_many_frames_are_cut():
    (fold,) = folded.folded([row(number) for number in range(100)])
    told = fold.frames()
    assert told.startswith("100 times: frames 0, 1, ")
    assert told.endswith("11, ... of connection 1; --json lists all")


def test_a_fold_that_is_told_whole_names_no_json():
    (fold,) = folded.folded([row(number) for number in range(folded.MOST_FRAMES)])
    assert "json" not in fold.frames()


def test_markdown_shows_words_as_they_are():
    assert markdown.escaped("a *b* _c_ <d> [e] `f` \x1b") == (
        r"a \*b\* \_c\_ \<d\> \[e\] \`f\` \\x1b"
    )
