"""docs/results/ is current, and what is not is named."""

import re

import pytest

from ci.jobs.results import results_command
from ci.jobs.results.target_page import page
from steertag.baseline import shipped
from steertag.matrix.load_target import of_baseline
from steertag.testing.run_files import row, write_baseline


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the pages, in which a test may change something."""
    monkeypatch.setattr(results_command, "RESULTS", tmp_path)
    for name, text in results_command.pages().items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_pages_are_current():
    assert results_command.main(["--check"]) == 0, "run ci/results"


def test_every_baseline_has_a_page_which_the_matrix_links():
    pages = results_command.pages()
    assert set(pages) == {"README.md", *(f"{name}.md" for name in shipped.baselines())}
    linked = set(re.findall(r"\]\(([^/)]+\.md)\)", pages["README.md"]))
    assert linked == set(pages) - {"README.md"}


def test_a_page_that_is_not_current_is_named_and_written(copy, capsys):
    (copy / "linux-6.1-siw.md").write_text("edited")
    (copy / "linux-6.1-rxe.md").unlink()
    (copy / "gone.md").write_text("of no baseline")
    assert results_command.main(["--check"]) == results_command.STALE
    named = capsys.readouterr().err
    assert re.findall(r"results/(\S+) is not", named) == [
        "gone.md",
        "linux-6.1-rxe.md",
        "linux-6.1-siw.md",
    ]
    assert results_command.main([]) == 0
    assert results_command.main(["--check"]) == 0
    assert not (copy / "gone.md").exists()


def test_the_findings_of_a_page_are_folded_by_note(tmp_path):
    varies = {"or": [{"verdict": "pass", "reason": ""}]}
    rows = [row(f"server.a.{number}", note="Drops | it.") for number in range(4)]
    rows += [row("server.b.crash", "crash", note="It stops.") | varies]
    rows += [
        row("server.c", "latitude", reason="RFC8166-4.5-2: silence", note="x: see the reason.")
    ]
    rows += [row("server.d", "not-testable", note="No device.")]
    text = page(of_baseline(write_baseline(tmp_path / "it.yaml", rows, cases=9)), "it.yaml")
    lines = [line for line in text.splitlines() if line.startswith(("| ", "## "))]
    assert lines[1] == "| some-target |  |  |  | 9 | 2 | 1 | 1 | 4 | 1 |"
    assert [line for line in lines[2:] if "requirement" not in line] == [
        "## Findings",
        "| It stops. | 1 crash ~ | RFC8166-4.5.1-1 | `b.crash` |",
        "| Drops \\| it. | 4 fail | RFC8166-4.5.1-1 | `a.* (4)` |",
        "## Legal variants",
        "| silence | 1 latitude | RFC8166-4.5-2 | `c` |",
        "## Not tested",
        "| No device. | 1 not-testable | RFC8166-4.5.1-1 | `d` |",
    ]
