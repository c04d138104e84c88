"""Whether a case attributes what went wrong to a requirement."""

JUDGEMENTS = ("fail", "warn", "crash", "hang")
# A server that died or stopped cannot show the rule that it broke; the case's claim stands for it.
ENDS = ("crash", "hang")


def attributed(case, requirement):
    """Whether one row of report.json names the requirement as broken: by a finding of the judge, by an
    expectation of the case, which stands in the reason ("ID: what was expected; ID: ..."), or by
    the end of the server in a case that claims the requirement."""
    if case["verdict"] not in JUDGEMENTS:
        return False
    return (
        any(finding["id"] == requirement for finding in case["findings"])
        or any(part.startswith(f"{requirement}:") for part in case["reason"].split("; "))
        or (case["verdict"] in ENDS and requirement in case["requirements"])
    )


def attributing(cases, requirement):
    """The id of the first case that names the requirement as broken, or None."""
    return next((case["id"] for case in cases if attributed(case, requirement)), None)


def failed(cases):
    """The ids of the cases that did not pass."""
    return tuple(case["id"] for case in cases if case["verdict"] in JUDGEMENTS)


def failed_as_claimed(cases):
    """The ids of the cases that did not pass under a requirement that they claim. A peer that fails at what all
    cases begin with shows nothing about them."""
    return tuple(
        case["id"] for case in cases if any(attributed(case, each) for each in case["requirements"])
    )
