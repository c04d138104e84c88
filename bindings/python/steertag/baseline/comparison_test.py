"""Comparisons of a run and rows that are of different kernels."""

import pytest

from steertag import baseline
from steertag.testing.run_files import entry, row, write_baseline, write_report


@pytest.mark.parametrize(
    "of_rows, software, told",
    [
        ("6.1.192-2", "Linux 6.1.0-56-amd64 (Debian 6.1.192-2) with a.patch", False),
        ("6.1.192-2", "Linux 6.1.0-57-amd64 (Debian 6.1.195-1)", True),
        ("6.1.192-2", "a server of our own", False),  # nothing is known
        ("", "Linux 6.1.0-57-amd64 (Debian 6.1.195-1)", False),
    ],
)
def test_a_run_of_another_kernel_than_that_of_the_rows_is_told(tmp_path, of_rows, software, told):
    rows = write_baseline(tmp_path / "baseline.yaml", [row("server.a")], kernel=of_rows)
    case = entry("server.a", "fail", "saw silence")
    report = write_report(tmp_path / "report.json", [case], software=software)
    result = baseline.compare(baseline.load_report(report), baseline.load(rows))
    sentence = "the run is of kernel 6.1.195-1, the rows are of kernel 6.1.192-2"
    assert (sentence in result.table()) == told == bool(result.other_kernel)
    assert result.matches()
