"""What a run will not test, told before its first case: how many cases, on what, and the option that
brings them."""

import collections
import dataclasses
import textwrap

from ..cases.case_end import NotTestable, Unsupported
from ..nfs_client.nfs4_probe import PROBES

WIDTH = 100  # columns of the paragraph
# Topics that one sentence names, those with the most cases first.
MOST_TOPICS = 4


@dataclasses.dataclass(frozen=True)
class Gap:
    """Cases that end in `verdict` for one `reason`. `detail` says more of the reason, and `remedy`
    is the option that brings them, or ""."""

    verdict: str
    reason: str
    detail: str
    remedy: str
    cases: tuple


def find_gaps(cases, session):
    """[Gap], those with the most cases first, of (Case, id) pairs. `session` was in contact with the
    target. A third party is asked for what its cases need. The bundled server is asked by the first
    case: with a deviation that hangs, each question costs its time."""
    found = {}
    for case, case_id in cases:
        end = _lack(case if not session.bundled else _unasked(case), session)
        if end is None:
            continue
        key = (end.verdict.value, end.reason, end.detail, getattr(end, "remedy", ""))
        found.setdefault(key, []).append(case_id)
    made = [Gap(*key, tuple(ids)) for key, ids in found.items()]
    return sorted(made, key=lambda gap: (-len(gap.cases), gap.reason))


def _lack(case, session):
    """The NotTestable or Unsupported in which the needs of the case end, or None. The case itself
    shows whatever else becomes of its probe."""
    try:
        session.check_needs(case)
    except (NotTestable, Unsupported) as end:
        return end
    except Exception:  # pylint: disable=broad-except
        return None
    return None


def _unasked(case):
    """The case without the needs that only a probe can tell."""
    return dataclasses.replace(case, needs=tuple(each for each in case.needs if each not in PROBES))


def gap_lines(gaps, total, tcp_found=""):
    """The paragraph as lines; none if there is nothing to tell. `total`: cases of the run;
    `tcp_found`: the URL over TCP that the run found by itself, or ""."""
    lines = []
    if tcp_found:
        lines += _wrapped(
            f"{tcp_found} answers NFS: the cases that need TCP use it (--no-tcp forbids that)", ""
        )
    if not gaps:
        return lines
    count = sum(len(gap.cases) for gap in gaps)
    lines.append(f"not tested: {count} of {total} cases")
    for gap in gaps:
        detail = f" ({gap.detail})" if gap.detail else ""
        remedy = f"; give {gap.remedy}" if gap.remedy else ""
        text = f"{len(gap.cases)} {gap.verdict}, on {topics_of(gap.cases)}: {gap.reason}"
        lines += _wrapped(f"{text}{detail}{remedy}", "  ")
    return lines


def topics_of(case_ids):
    """The topics of cases with their numbers: "records 29, same-over-tcp 172"."""
    counts = collections.Counter(_topic(case_id) for case_id in case_ids)
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    shown = [f"{topic} {count}" for topic, count in ranked[:MOST_TOPICS]]
    more = sum(count for _, count in ranked[MOST_TOPICS:])
    return ", ".join(shown + ([f"others {more}"] if more else []))


def _topic(case_id):
    """The second word of an id: server.TOPIC.name."""
    words = case_id.split(".")
    return words[1] if len(words) > 1 else words[0]


def _wrapped(text, indent):
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
