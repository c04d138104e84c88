"""Which lines a failure shows, and how they are marked."""

import dataclasses

from steertag.traces.line import Line, LOCAL, TO_CLIENT, TO_SERVER, Violation
from steertag.traces.trace_text import line_text, MOST_LINES, octet_text, shown_lines, trace_text


def line(number, *violations, kind="send", direction=TO_SERVER, time_s=None, octets=b""):
    return Line(number, 1, time_s, direction, kind, f"words {number}", octets, (), violations)


def test_a_line():
    assert line_text(line(3)) == "  #3    -> words 3"
    assert line_text(line(3, time_s=1.5)) == "  #3     1.500000 -> words 3"
    assert line_text(line(3, direction=TO_CLIENT), "c0") == "  #3    c0 <- words 3"


def test_merged_events_have_their_numbers():
    merged = dataclasses.replace(line(3, kind="rdma_write"), last=7)
    assert line_text(merged) == "  #3-7  -> words 3"


def test_what_the_target_breaks_is_marked():
    twice = Violation(3, "A"), Violation(3, "B"), Violation(3, "A", "again")
    assert line_text(line(3, *twice)) == "> #3    -> words 3  breaks A, B"
    many = [Violation(3, word) for word in "ABCDEF"]
    assert line_text(line(3, *many)).endswith("breaks A, B, C, D and 2 more")


def test_what_our_own_side_breaks_is_named_and_not_marked():
    own = Violation(3, "A", by_target=False)
    assert line_text(line(3, own)) == "  #3    -> words 3  breaks A (our side)"


def test_the_end_is_shown_and_what_breaks_a_requirement():
    lines = [line(number, *[Violation(5, "A")] * (number == 5)) for number in range(100)]
    text = trace_text(lines)
    assert text[:5] == [
        "  ... 3 more",
        "  #3    -> words 3",
        "  #4    -> words 4",
        "> #5    -> words 5  breaks A",
        f"  ... {100 - MOST_LINES - 6} more",
    ]
    assert text[-1] == "  #99   -> words 99" and len(text) == MOST_LINES + 5
    assert [each.number for each in shown_lines(lines)][:4] == [3, 4, 5, 76]


def test_what_our_side_alone_knows_is_hidden_unless_it_is_broken():
    quiet = line(1, kind="receive_posted", direction=LOCAL)
    broken = line(2, Violation(2, "A"), kind="memory_invalidated", direction=LOCAL)
    assert [each.number for each in shown_lines([quiet, broken])] == [2]
    assert len(trace_text([quiet, broken], verbose=True)) == 2


def test_octets_are_below_a_line_if_asked_for():
    message = line(1, octets=bytes(28))
    assert not any("payload stream" in each for each in trace_text([message]))
    assert any("payload stream" in each for each in trace_text([message], verbose=True))
    payload = line(1, kind="rdma_write", octets=bytes(2000))
    assert list(octet_text(payload))[-1].strip() == "... 2000 octets"
