"""Completion of the command line by argcomplete: docs/completion/ has what a shell sources."""

from . import ledger_places
from .case_list.kept_list import kept_cases


def complete(parser):
    """Prints the completions that the shell asks for, and ends the process."""
    import argcomplete

    _set_completers(parser)
    argcomplete.autocomplete(parser)


def _set_completers(parser):
    known = {
        ("cases", "--section"): lambda **_: ledger_places.place_names(),
        ("cases", "--requirement"): lambda **_: ledger_places.requirement_names(),
        ("cases", "--topic"): lambda **_: sorted({case.topic for case in kept_cases()}),
        ("explain", "WORD"): lambda **_: explainable(),
        ("mutation", "DEVIATION"): lambda **_: _deviations(),
    }
    for action in parser._actions:
        for name, command in (action.choices or {}).items():
            for argument in command._actions:
                for option in (*argument.option_strings, argument.metavar):
                    if (name, option) in known:
                        argument.completer = known[name, option]


def explainable():
    """All that `steertag explain` takes."""
    cases = [case.id for case in kept_cases()]
    places = [*ledger_places.place_names(), *ledger_places.requirement_names()]
    return [*places, *cases, *_deviations()]


def _deviations():
    from . import peer, trace

    sides = (trace.Role.server, trace.Role.client)
    return sorted({each.name for side in sides for each in peer.deviations(side)})
