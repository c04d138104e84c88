"""Whether a case blames a requirement for its failure."""

JUDGEMENTS = ("fail", "warn", "crash", "hang")
# A dead or silent server shows no broken rule; the case's claim replaces it.
ENDS = ("crash", "hang")


def attributed(case, requirement):
    """Whether a row of report.json names the requirement as broken. One of these does:

    - a finding of the judge;
    - an expectation of the case, in the reason ("ID: expected ...; ID: ...");
    - the end of the server in a case that claims the requirement."""
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
    """The ids of the cases that failed under a requirement that they claim. A peer that fails the
    preparation of all cases says nothing about them."""
    return tuple(
        case["id"] for case in cases if any(attributed(case, each) for each in case["requirements"])
    )


def first_shown(cases, case_id):
    """The requirement that this case shows first as broken; "" if it shows none."""
    case = next((case for case in cases if case["id"] == case_id), {})
    return (case.get("cause") or {}).get("requirement") or ""
