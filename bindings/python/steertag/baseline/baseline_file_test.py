"""Errors in baseline files: each names the file, the row and the rule."""

import pytest
import yaml

from steertag import baseline
from steertag.baseline.baseline_file import ROW_KEYS

TARGET = "some-target"
CASE = "server.header.version-zero"
REASON = "the call was dropped"


def row(case=CASE, verdict="fail", requirement="RFC8166-4.5.1-1", reason=REASON, note="drops it"):
    """One row as a human writes it."""
    values = (case, verdict, requirement, reason, note)
    return dict(zip(ROW_KEYS, values, strict=True))


def write_baseline(directory, rows, target=TARGET):
    path = directory / "baseline.yaml"
    path.write_text(yaml.safe_dump({"target": target, "rows": rows}))
    return path


@pytest.mark.parametrize(
    "bad, sentence",
    [
        (row(verdict="pass", reason=""), "a case that passes has no row"),
        (row(verdict="pass"), "a pass has no reason"),
        (row(verdict="harness-error"), "is a defect of the suite, which no baseline excuses"),
        (row(verdict="failed"), "there is no verdict 'failed'; a row has one of fail, warn, "),
        (row(verdict=["fail"]), "there is no verdict"),
        (row(reason=""), "the verdict fail needs its reason"),
        (row(reason=5), "'reason' is not a text"),
        (row(requirement=[]), "'requirement' is the id of a requirement or a list of ids"),
        (row(requirement=[5]), "'requirement' is the id of a requirement or a list of ids"),
        (row(note=["no"]), "'note' is not a text"),
        ({**row(), "owner": "nobody"}, "unknown key 'owner'"),
        ({**row(), "or": "pass"}, "'or' is not a list of outcomes"),
        ({**row(), "or": ["pass"]}, "below 'or': an outcome has a verdict and a reason"),
        ({**row(), "or": [{"verdict": "pass"}]}, "below 'or': an outcome has a verdict and a rea"),
        ({**row(), "or": [{"verdict": "pass", "reason": "why"}]}, "a pass has no reason"),
        ({**row(), "or": [{"verdict": "harness-error", "reason": REASON}]}, "is a defect of the"),
        ({"case": CASE}, "'verdict' is missing"),
    ],
)
def test_row_that_is_not_well_formed_is_named(tmp_path, bad, sentence):
    path = write_baseline(tmp_path, [row(case="server.good"), bad])
    with pytest.raises(baseline.BaselineError) as caught:
        baseline.load(path, TARGET)
    assert str(caught.value).startswith(f"{path}, row 2 ({CASE})")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "bad, sentence",
    [
        ("a string", "a row is a mapping with the keys case, "),
        ({**row(), "case": 5}, "'case' is not"),
        ({key: value for key, value in row().items() if key != "case"}, "'case' is missing"),
    ],
)
def test_a_row_without_a_name_is_found_by_its_number(tmp_path, bad, sentence):
    path = write_baseline(tmp_path, [row(), bad])
    with pytest.raises(baseline.BaselineError) as caught:
        baseline.load(path, TARGET)
    assert str(caught.value).startswith(f"{path}, row 2: {sentence}")


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("target: [\n", ", line 2: not YAML: "),
        ("target: t\nrows:\n<<<<<<< ours\n", ", line 4: not YAML: could not find expected ':'"),
        ("target: t\nrows: []\nrows: []\n", ", line 3: the key 'rows' is there twice"),
        ("target: t\nrows:\n- case: a\n  case: b\n", ", line 4: the key 'case' is there twice"),
        ("target: 2025-99-99\nrows: []\n", ": not YAML: month must be in 1..12"),
        ("[" * 5000, ": not YAML: too deep"),
        ("", " is not a baseline: it has no 'target'"),
        ("- 1\n", " is not a baseline: it has no 'target'"),
        ("target: t\n", " is not a baseline: it has no 'rows'"),
        ("target: 5\nrows: []\n", " is not a baseline: 'target' is not the name of the target"),
        ("target: t\nrows: {a: b}\n", " is not a baseline: 'rows' is not a list"),
    ],
)
def test_what_is_no_baseline_says_why(tmp_path, text, sentence):
    path = tmp_path / "baseline.yaml"
    path.write_text(text)
    with pytest.raises(baseline.BaselineError) as caught:
        baseline.load(path)
    assert str(caught.value).startswith(f"{path}{sentence}")


def test_baseline_of_another_target_is_refused(tmp_path):
    with pytest.raises(baseline.BaselineError, match="not of some-target"):
        baseline.load(write_baseline(tmp_path, [], target="other-target"), TARGET)


def test_case_listed_twice_is_refused(tmp_path):
    with pytest.raises(baseline.BaselineError, match="more than once"):
        baseline.load(write_baseline(tmp_path, [row(), row()]), TARGET)


def test_the_head_says_which_run(tmp_path):
    path = tmp_path / "baseline.yaml"
    head = {"date": "2026-11-21", "software": "Linux 6.1", "steertag": "0.1.0", "cases": 1676}
    head["kernel"] = "6.1.192-2"
    path.write_text(yaml.safe_dump({"target": TARGET, **head, "rows": [row()]}))
    found = baseline.load(path)
    assert {key: getattr(found, key) for key in head} == head


@pytest.mark.parametrize(
    "head", [{"cases": "many"}, {"cases": True}, {"software": 6.1}, {"kernel": 6.1}]
)
def test_what_a_head_says_has_its_type(tmp_path, head):
    path = tmp_path / "baseline.yaml"
    path.write_text(yaml.safe_dump({"target": TARGET, **head, "rows": []}))
    with pytest.raises(baseline.BaselineError, match=f"'{next(iter(head))}' is not a"):
        baseline.load(path)
