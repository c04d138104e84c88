"""One message has the same words in the terminal, report.json, `replay --show` and `grade`."""

import json

import pytest
import warm_runs

from steertag_command import RUN_LIMIT_S, run_suite, steertag

from steertag import build_paths

CASE = "server.write-chunk.read-1"
BROKEN = "RFC8166-8.1.4-2"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """{name: text} of one failure."""
    folder = tmp_path_factory.mktemp("traces")
    words = ["suites/server", "-q", f"--case={CASE}"]
    words += [f"--report={folder}", "--deviate=write-beyond-chunk"]
    done = warm_runs.completed("pytest", words, build_paths.checkout(), RUN_LIMIT_S)
    (row,) = json.loads((folder / "report.json").read_text())["cases"]
    recording = folder / "failures" / f"{CASE}.steertag"
    return {
        "terminal": done.stdout,
        "report": "\n".join(line["text"] for line in row["trace"]),
        "show": steertag("replay", "--show", recording).stdout,
        "grade": steertag("grade", folder / "captures" / f"{CASE}.pcapng").stdout,
        "row": row,
    }


def test_four_outputs_have_the_same_words(outputs):
    (marked,) = [line for line in outputs["row"]["trace"] if line["kind"] == "rdma_write"]
    assert marked["text"].startswith("RDMA Write of 5 octets into write chunk 1 of xid 0x")
    assert marked["text"].endswith(", segment 1 offset 0, 4 octets beyond its end")
    for name in ("terminal", "report", "show", "grade"):
        assert marked["text"] in outputs[name], name


def test_the_line_that_breaks_the_requirement_is_marked(outputs):
    (marked,) = [line for line in outputs["row"]["trace"] if "violations" in line]
    assert [each["requirement"] for each in marked["violations"]] == [BROKEN]
    (line,) = [
        line for line in outputs["grade"].splitlines() if line.endswith(f"  breaks {BROKEN}")
    ]
    assert line.lstrip().startswith("> #")


def test_octets_are_behind_verbose(tmp_path):
    path = run_suite(tmp_path, "version-executed", "server.header.version-zero")
    plain = steertag("replay", "--show", path).stdout
    verbose = steertag("replay", "--show", "-v", path).stdout
    assert "payload stream" not in plain and "payload stream 40 octets" in verbose
    assert set(plain.splitlines()) <= set(verbose.splitlines())
    assert any(line.startswith("> #6") and "RFC8166-4.5.1-1" in line for line in plain.splitlines())
    capture = tmp_path / "report" / "captures" / "server.header.version-zero.pcapng"
    around = steertag("grade", "-v", capture).stdout
    assert plain.splitlines()[2].partition("-> ")[2] in around
