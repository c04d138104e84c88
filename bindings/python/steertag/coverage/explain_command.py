"""The command `steertag explain`: finds what each word names, and prints it."""

from .. import ledger_places
from ..case_list.kept_list import case_list
from ..failure import Failure
from ..suggestions import did_you_mean
from .explained import Explained
from .matrix import whole_matrix


def explain(arguments):
    """Prints what each word names. Raises Failure before any of it if a word names nothing."""
    try:
        cases, problem = case_list(), ""
    except Failure as failure:  # no suites
        cases, problem = [], str(failure)
    explained = Explained(whole_matrix(cases), problem)
    lines = [_lines(word, explained) for word in arguments.word]
    for each in lines:
        print("".join(f"{line}\n" for line in each), end="")


def _lines(word, explained):
    """The lines on what a word names."""
    lower = word.strip().lower()
    for known, lines in (
        (explained.cases, explained.case),
        (explained.deviations, explained.deviation),
        (explained.topics, explained.topic),
    ):
        if lower in known:
            return lines(lower)
    for find, lines in (
        (ledger_places.requirement_named, explained.requirement),
        (ledger_places.place_named, explained.place),
    ):
        try:
            return lines(find(word))
        except ledger_places.UnknownPlace:
            pass
    known = [*explained.cases, *explained.deviations, *explained.topics, *explained.rows]
    known += ledger_places.place_names()
    raise Failure(
        f"{word!r} is not in the ledger, and no case, topic or deviation{did_you_mean(word, known)}"
    )
