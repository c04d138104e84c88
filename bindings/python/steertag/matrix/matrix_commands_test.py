"""`steertag matrix` and `steertag diff`: text, pages, exit statuses, and hostile texts in each of them."""

import html.parser
import re
import shutil

import pytest

from steertag import build_paths, cli
from steertag.matrix import matrix_page
from steertag.matrix.load_target import load_targets
from steertag.testing.run_files import entry, row, write_baseline, write_report

HOSTILE = "</td><script>alert('1')</script>\"|`[x](y)\x1b[31m\n# head & tail"
EMPTY_ELEMENTS = {"meta", "br", "input"}


def steertag(*arguments):
    return cli.main([str(each) for each in arguments])


class Page(html.parser.HTMLParser):
    """Reads a page, and holds its elements and texts against each other."""

    def __init__(self, content):
        super().__init__()
        self.open, self.elements, self.attributes, self.text, self.kept = [], [], [], "", ""
        self.feed(content)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += attrs
        if tag not in EMPTY_ELEMENTS:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.kept += data
        else:
            self.text += data


@pytest.fixture
def runs(tmp_path):
    """A report and a baseline that differ in one case."""
    cases = [entry("server.a.one"), entry("server.a.two")]
    report = write_report(tmp_path / "report.json", cases, name="mine", software="Mine 2.0")
    rows = [row("server.a.one", note="It drops the call.")]
    return report, write_baseline(tmp_path / "it.yaml", rows, software="Theirs 1.0", cases=7)


@pytest.fixture
def hostile(tmp_path):
    """A report and a baseline with hostile texts wherever there is one."""
    case = f"server.{HOSTILE}"
    cases = [entry(case, "fail", HOSTILE, [HOSTILE], [HOSTILE])]
    report = write_report(tmp_path / "r.json", cases, name=HOSTILE, software=HOSTILE)
    rows = [row(case, requirement=HOSTILE, reason=HOSTILE, note=HOSTILE)]
    head = {"software": HOSTILE, "date": HOSTILE, "steertag": HOSTILE}
    return report, write_baseline(tmp_path / "b.yaml", rows, HOSTILE, **head)


def test_the_matrix_has_a_line_for_each_requirement_and_its_notes(runs, capsys):
    assert steertag("matrix", *runs) == 0
    printed = capsys.readouterr().out
    for line in (
        "[1] mine",
        "    Mine 2.0; Steertag 0.1.0; 2 cases",
        "    Theirs 1.0; 7 cases",
        "    1 fail, 6 pass",
        "RFC8166-4.5.1-1  pass  1 fail",
        "    [2] It drops the call.",
        "1 of 1 requirements",
    ):
        assert line in printed.splitlines()
    assert "MUST: A header version the responder does not support" in printed


def test_rows_can_be_cases_and_rows_can_be_left_out(runs, capsys):
    steertag("matrix", *runs, "--by", "case", "--brief")
    printed = capsys.readouterr().out
    assert "server.a.one  pass  fail\n" in printed and "server.a.two" not in printed
    assert "1 of 2 cases; 1 pass everywhere (--all prints them)" in printed
    steertag("matrix", *runs, "--by", "case", "--all", "--brief")
    assert "server.a.two  pass  pass\n" in capsys.readouterr().out
    steertag("matrix", *runs, "--by", "case", "--differences")
    assert "1 of 2 cases; 1 are the same everywhere" in capsys.readouterr().out


def test_targets_of_one_name_are_told_apart(runs):
    report, _ = runs
    names = [target.name for target in load_targets([str(report), str(report.parent)])]
    assert names == [f"mine ({report})", f"mine ({report.parent})"]


def test_without_a_target_all_shipped_baselines_are_shown(capsys):
    assert steertag("matrix", "--brief") == 0
    printed = capsys.readouterr().out
    names = re.findall(r"^\[\d+\] (\S+)$", printed, re.MULTILINE)
    folder = build_paths.checkout() / "fixtures" / "baselines"
    assert sorted(names) == sorted(path.stem for path in folder.glob("*.yaml"))
    assert printed.startswith("servers\n") and "\nclients\n" in printed


@pytest.mark.parametrize("by", ["requirement", "case"])
def test_the_page_has_the_same_without_network(runs, tmp_path, by):
    assert steertag("matrix", *runs, "--by", by, "--html", tmp_path / "it.html") == 0
    page = Page((tmp_path / "it.html").read_text())
    for text in ("mine", "Mine 2.0", "Theirs 1.0", "It drops the call.", "saw silence", "1 fail"):
        assert text in page.text
    targets = [value for name, value in page.attributes if name == "data-target"]
    assert targets == ["mine", "some-target"] * (1 if by == "requirement" else 2)
    loaded = [name for name, _ in page.attributes if name in ("src", "srcset", "data", "action")]
    assert not loaded and "link" not in page.elements
    assert "url(" not in page.kept and "@import" not in page.kept
    assert "prefers-color-scheme: dark" in page.kept and "max-width: 45rem" in page.kept
    links = {value for name, value in page.attributes if name == "href"}
    assert all(link.startswith("https://www.rfc-editor.org/rfc/") for link in links)


def test_the_page_can_be_of_differences_only(runs):
    targets = load_targets([str(path) for path in runs])
    both, one = matrix_page.page(targets, "case"), matrix_page.page(targets, "case", True)
    assert "server.a.two" in both and "server.a.two" not in one


@pytest.mark.parametrize("by", ["requirement", "case"])
def test_hostile_texts_stay_texts_on_the_page(hostile, tmp_path, by):
    harmless = write_report(tmp_path / "x.json", [entry("server.x", "fail", "x")])
    pages = []
    for paths in ([harmless, harmless], hostile):
        assert steertag("matrix", *paths, "--by", by, "--html", tmp_path / "it.html") == 0
        pages.append(Page((tmp_path / "it.html").read_text()))
    assert pages[1].elements.count("script") == pages[0].elements.count("script") == 1
    assert pages[1].kept == pages[0].kept
    assert pages[1].text.count(HOSTILE) >= 6
    assert {name for name, _ in pages[1].attributes} <= {name for name, _ in pages[0].attributes}


@pytest.mark.parametrize("command", [["matrix"], ["matrix", "--by", "case"], ["diff"]])
def test_hostile_texts_stay_texts_on_the_terminal(hostile, capsys, command):
    steertag(*command, *hostile)
    printed = capsys.readouterr().out
    assert "\x1b" not in printed and "\n# head" not in printed and "\\x1b[31m" in printed


def test_hostile_texts_stay_texts_in_markdown(hostile, capsys):
    assert steertag("matrix", "--markdown", *hostile) == 0
    lines = capsys.readouterr().out.splitlines()
    assert not [line for line in lines if "<" in line or "\x1b" in line or line.startswith("# ")]
    columns = {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("| req")}
    rows = [line for line in lines if line.startswith("| &lt;")]
    assert rows and {len(re.findall(r"(?<!\\)\|", line)) for line in rows} >= columns
    assert not re.search(r"(?<!\\)\[x(?<!\\)\]", "\n".join(lines))


def test_markdown_has_the_targets_and_their_findings(runs, capsys):
    assert steertag("matrix", "--markdown", *runs) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "## Servers"
    assert "| some-target | Theirs 1.0 |  |  | 7 | 6 | 1 |" in lines
    (found,) = [line for line in lines if line.startswith("| [RFC")]
    assert found.endswith("| pass | 1 fail |")


def test_diff_folds_cases_that_changed_alike(tmp_path, capsys):
    names = [f"server.a.{number}" for number in range(9)]
    before = write_report(tmp_path / "a.json", [entry(name) for name in names])
    failing = [entry(name, "fail", "saw silence") for name in names]
    after = write_report(tmp_path / "b.json", failing)
    assert steertag("diff", before, after) == 1
    printed = capsys.readouterr().out
    assert "\nworse: 9 cases\n  a.* (9)\n    was pass\n    is  fail: saw silence\n" in printed
    assert printed.endswith("\ndiffer: 9 worse, 0 the same\n")
    assert steertag("diff", before, after, "--cases") == 1
    printed = capsys.readouterr().out
    assert all(f"  {name}\n" in printed for name in names)


def test_diff_says_by_its_status_whether_two_are_the_same(runs, capsys):
    report, baseline = runs
    assert steertag("diff", report, report) == 0
    assert capsys.readouterr().out.endswith("the same: 2 the same\n")
    assert steertag("diff", report, baseline) == 1
    assert steertag("diff", baseline, report) == 1
    assert steertag("diff", report, "nothing-of-this-name") == 2
    sentence = "there is neither a file nor a shipped baseline nothing-of-this-name"
    assert sentence in capsys.readouterr().err


def test_diff_refuses_a_server_and_a_client(capsys):
    assert steertag("diff", "linux-6.1-siw", "client-linux-6.12-siw-v3") == 2
    assert "they have no case in common" in capsys.readouterr().err


def test_a_shipped_baseline_of_nearly_this_name_is_suggested(capsys):
    assert steertag("matrix", "linux-6.1-siv") == 2
    assert "did you mean linux-6.1-siw" in capsys.readouterr().err


def test_what_cannot_be_written_ends_with_one_sentence(runs, tmp_path, capsys):
    assert steertag("matrix", *runs, "--html", tmp_path / "no" / "it.html") == 2
    assert "No such file or directory" in capsys.readouterr().err


def test_an_installed_package_has_baselines_too(monkeypatch, tmp_path, capsys):
    """Below it, as in the checkout."""
    folder = build_paths.checkout() / "fixtures" / "baselines"
    place = tmp_path / "fixtures" / "baselines"
    place.mkdir(parents=True)
    monkeypatch.setattr(build_paths, "checkout", lambda: None)
    monkeypatch.setattr(build_paths, "PACKAGE", tmp_path)
    assert steertag("matrix") == 2
    assert "name a report or a baseline" in capsys.readouterr().err
    shutil.copy(folder / "linux-6.1-siw.yaml", place)
    assert steertag("matrix", "linux-6.1-siw") == 0
