"""`steertag grade`: its output and its exit status."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest

from steertag import build_paths, cli, trace
from steertag.grade import annotation, grade_commands, grade_document, grade_text, graded, reading
from steertag.testing import grade_captures

GRANTS_ZERO = "RFC8166-3.3.1-5"
DEADLINE_S = 60
SITUATIONS = build_paths.checkout() / "fixtures/captures/situations"
MOST_LISTED = 256  # findings of one connection
BROKEN = build_paths.checkout() / "fixtures/captures/broken"
# In the background of a script, tests and their commands ignore SIGINT.
INTERRUPTIBLE = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from steertag.cli import main; sys.exit(main())"
)


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """{name: path} of captures that no test changes."""
    directory = tmp_path_factory.mktemp("captures")
    made = {
        name: getattr(grade_captures, name)(directory / f"{name}.pcapng")
        for name in ("clean", "violating", "warned")
    }
    made["empty"] = directory / "empty.pcapng"
    trace.write_captures(made["empty"], [])
    made["other"] = directory / "other.txt"
    made["other"].write_text("no capture at all\n" * 100)
    octets = made["violating"].read_bytes()
    made["damaged"] = directory / "damaged.pcapng"
    made["damaged"].write_bytes(octets[:-30])
    return made


def steertag(*arguments):
    return cli.main(["grade", *map(str, arguments)])


def json_of(path, *arguments):
    out = path.parent / f"{path.name}.json"
    steertag(path, "--json", out, *arguments)
    return json.loads(out.read_text())


@pytest.mark.parametrize(
    "name, status",
    [("clean", 0), ("warned", 0), ("violating", 1), ("damaged", 2), ("other", 2), ("empty", 3)],
)
def test_the_exit_status_tells_what_was_found(captures, capsys, name, status):
    assert steertag(captures[name]) == status
    assert steertag(captures[name], "--quiet") == status


@pytest.mark.parametrize(
    "names, status",
    [
        (("clean", "violating"), 1),
        (("violating", "clean", "other"), 2),
        (("damaged", "clean"), 2),
        (("empty", "violating"), 1),
        (("clean", "empty"), 3),
    ],
)
def test_of_several_files_the_worst_counts(captures, capsys, names, status):
    assert steertag(*(captures[name] for name in names)) == status


def test_a_file_that_is_not_there_is_unreadable(tmp_path, capsys):
    assert steertag(tmp_path / "none.pcapng") == 2
    assert "none.pcapng" in capsys.readouterr().err


def test_warnings_can_be_made_to_count(captures, capsys):
    assert steertag(captures["warned"], "--strict") == 1
    assert steertag(captures["clean"], "--strict") == 0


def test_a_violation_is_told_with_packet_and_requirement(captures, capsys):
    steertag(captures["violating"])
    lines = capsys.readouterr().out.splitlines()
    head, first = lines[0].split(), lines[1].split()
    assert head == ["frame", "conn", "side", "level", "requirement", "section"]
    assert first[1:] == ["1", "server", "MUST", "NOT", GRANTS_ZERO, "RFC", "8166", "3.3.1"]
    assert "grants at least one credit" in lines[2]
    assert lines[3].strip() == "expected a grant of at least 1"
    assert lines[4].strip().startswith("observed rdma_credit 0")
    assert any("1 violation" in line for line in lines[5:])


def test_the_summary_tells_of_the_connection(captures, capsys):
    steertag(captures["clean"])
    out = capsys.readouterr().out
    for part in (
        "connection 1  iWARP  192.0.2.1:700 (client), 192.0.2.2:20049 (server)",
        "ended in order",
        "4096 to the server, 4096 to the client (negotiated), no remote invalidation",
        "2 calls, 2 replies, 0 RDMA_ERROR, 0 unanswered",
        "asked for up to 32, granted up to 32 (last 32), 1 in flight at most",
        "verdict     nothing found",
    ):
        assert part in out, out
    assert "not seen" not in out


def test_text_is_ascii_of_some_columns(captures, capsys):
    steertag(*(captures[name] for name in ("clean", "warned", "violating")))
    for line in capsys.readouterr().out.splitlines():
        assert line.isascii()
        may_be_long = line.startswith(("/", "frame")) or line.lstrip(" >").startswith("#")
        assert len(line) <= grade_text.WIDTH or may_be_long, line


def test_of_a_damaged_file_what_could_be_read_is_graded(captures, capsys):
    assert steertag(captures["damaged"]) == 2
    told = capsys.readouterr()
    assert GRANTS_ZERO in told.out
    assert "octet " in told.err and "the part before it was graded" in told.err


def test_nothing_to_judge_is_no_success(captures, capsys):
    assert steertag(captures["empty"]) == 3
    assert "nothing was judged: there is no packet in it" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["iwarp", "roce"])
@pytest.mark.parametrize("options", [(), ("--quiet",)])
def test_a_capture_cut_before_every_message_is_no_success(capsys, name, options):
    """Connections are found in these captures, but no message of them is whole."""
    assert steertag(BROKEN / f"{name}-cut.pcapng", *options) == grade_commands.NOTHING
    out = " ".join(capsys.readouterr().out.split())
    assert "no message of its 1 connection is whole in the capture, because packets are cut" in out
    assert "(first seen at packet " in out and "tcpdump -s 0" in out


def test_a_setup_that_is_cut_is_no_beginning_in_the_middle(capsys):
    steertag(BROKEN / "roce-cut.pcapng")
    assert "begins in the middle" not in capsys.readouterr().out
    steertag(BROKEN / "roce-no-cm.pcapng")
    assert "begins in the middle" in capsys.readouterr().out


def test_cut_packets_are_told_where_nothing_was_recognized(capsys):
    assert steertag(BROKEN / "iwarp-cut-in-headers.pcapng") == grade_commands.NOTHING
    out = " ".join(capsys.readouterr().out.split())
    assert "no RPC-over-RDMA connection was found in it;" in out
    assert "are cut short (the first is packet " in out


def test_reports_tell_that_nothing_was_judged(tmp_path, capsys):
    path = BROKEN / "iwarp-cut.pcapng"
    steertag(path, "--json", tmp_path / "out.json", "--junit", tmp_path / "out.xml")
    (file,) = json.loads((tmp_path / "out.json").read_text())["files"]
    assert (file["status"], file["messages_judged"], file["connections_unjudged"]) == (
        "nothing",
        0,
        1,
    )
    assert "cut" in file["unjudged"][0]
    (suite,) = xml.parse(tmp_path / "out.xml").getroot()
    counts = [suite.get(each) for each in ("tests", "failures", "errors", "skipped")]
    assert counts == ["2", "0", "1", "1"]
    assert file["unjudged"][0] in suite.find(".//error").get("message")


def test_quiet_is_silent_where_nothing_is_wrong(captures, capsys):
    steertag(captures["clean"], "--quiet")
    assert capsys.readouterr() == ("", "")
    steertag(captures["violating"], "--quiet")
    out = capsys.readouterr().out
    assert GRANTS_ZERO in out and "thresholds" not in out


def test_levels_decide_what_is_shown(captures, capsys):
    steertag(captures["warned"], "--level", "must", "--quiet")
    assert capsys.readouterr().out == ""
    steertag(captures["warned"], "--level", "should", "--quiet")
    assert "SHOULD NOT" in capsys.readouterr().out


def test_an_exit_status_is_told_its_reason_whatever_the_level(captures, capsys):
    assert steertag(captures["warned"], "--level", "must", "--quiet", "--strict") == 1
    assert "1 warning" in capsys.readouterr().out


def test_of_many_findings_some_are_listed_and_all_counted(tmp_path, capsys):
    path = grade_captures.warned(tmp_path / "many.pcapng", times=MOST_LISTED + 1)
    out = tmp_path / "junit.xml"
    assert steertag(path, "--junit", out, "--json", tmp_path / "out.json") == 0
    assert "257 warnings (1 of them counted, not listed)" in capsys.readouterr().out
    (file,) = json.loads((tmp_path / "out.json").read_text())["files"]
    assert (file["warnings"], len(file["findings"])) == (MOST_LISTED + 1, MOST_LISTED)
    assert file["connections"][0]["findings_dropped"] == 1


PROFILES = [("rfc8166", ["RFC8166-4.6.2-1"]), ("rfc5666", [])]


@pytest.mark.parametrize("profile, ids", PROFILES)
def test_a_profile_says_by_what_is_judged(tmp_path, capsys, profile, ids):
    out = tmp_path / "out.json"
    steertag(SITUATIONS / "10-done.pcapng", "--profile", profile, "--json", out)
    (file,) = json.loads(out.read_text())["files"]
    assert [each["id"] for each in file["findings"]] == ids


def test_every_rule_of_every_profile_can_be_reported(capsys):
    assert steertag(SITUATIONS / "10-done.pcapng", "--profile", "prototype") == 1
    assert "CALLAGHAN2003-4.4-2" in capsys.readouterr().out


def test_json(captures, capsys):
    found = json_of(captures["violating"])
    assert (found["format"], found["version"], found["exit_status"]) == ("steertag-grade", 1, 1)
    (file,) = found["files"]
    assert file["status"] == "violations" and file["error"] is None
    (finding,) = file["findings"]
    assert finding["id"] == GRANTS_ZERO and finding["verdict"] == "fail"
    assert finding["culprit"] == "server" and 0 < finding["frame"] <= file["packets"]
    (connection,) = file["connections"]
    assert connection["thresholds"]["source"] == "negotiated"
    assert connection["directions"]["forward"]["calls"] == 3
    assert connection["messages"] == {"call": 3, "reply": 3}
    assert connection["losses"] == {}
    assert connection["first_frame"] < finding["frame"] < connection["last_frame"]


def test_wrong_invariant_crcs_are_noted_and_break_no_requirement(tmp_path, capsys):
    spoilt = BROKEN / "roce-wrong-crc.pcapng"
    steertag(spoilt, "--json", tmp_path / "out.json")
    text = " ".join(capsys.readouterr().out.split())
    assert "1 packet of the server has a wrong invariant CRC (frame 14)" in text
    (file,) = json.loads((tmp_path / "out.json").read_text())["files"]
    sides = file["connections"][0]["sides"]
    assert sides["server"]["wrong_crcs"] == {"count": 1, "first_frame": 14, "last_frame": 14}
    assert sides["client"]["wrong_crcs"] is None
    steertag(BROKEN / "roce-vlan.pcapng", "--json", tmp_path / "right.json")
    assert "invariant CRC" not in capsys.readouterr().out
    (right,) = json.loads((tmp_path / "right.json").read_text())["files"]
    findings = [(each["id"], each["frame"]) for each in right["findings"]]
    assert [(each["id"], each["frame"]) for each in file["findings"]] == findings


def test_json_on_standard_output_is_alone_there(captures, capsys):
    assert steertag(captures["violating"], captures["damaged"], "--json", "-") == 2
    found = json.loads(capsys.readouterr().out)
    assert [file["status"] for file in found["files"]] == ["violations", "damaged"]
    assert found["files"][1]["error"]["offset"] > 0


def test_every_field_of_the_json_is_documented(captures, capsys):
    (file,) = json_of(captures["violating"])["files"]
    names = {*file, *file["connections"][0], *file["findings"][0]}
    names |= {*file["connections"][0]["sides"]["client"]}
    names |= {*file["connections"][0]["directions"]["forward"]}
    assert {name for name in names if f"`{name}`" not in grade_document.__doc__} == set()


def test_junit(captures, tmp_path, capsys):
    out = tmp_path / "junit.xml"
    files = [captures[name] for name in ("clean", "violating", "warned", "empty", "damaged")]
    steertag(*files, "--junit", out)
    suites = xml.parse(out).getroot().findall("testsuite")
    counts = [(each.get("tests"), each.get("failures"), each.get("errors")) for each in suites]
    assert counts[:4] == [("1", "0", "0"), ("1", "1", "0"), ("1", "0", "0"), ("1", "0", "1")]
    assert suites[4].get("errors") == "1"
    case = suites[1].find("testcase")
    assert GRANTS_ZERO in case.get("name")
    properties = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert properties["verdict"] == "fail" and properties["requirement"] == GRANTS_ZERO
    assert "frame " in case.find("failure").text


@pytest.mark.parametrize(
    "options, tests, failures",
    [(["--level", "must"], 1, 0), (["--level", "must", "--strict"], 1, 1), (["--strict"], 1, 1)],
)
def test_junit_fails_as_the_exit_status_does(captures, tmp_path, capsys, options, tests, failures):
    out = tmp_path / "junit.xml"
    assert steertag(captures["warned"], "--junit", out, *options) == failures
    suite = xml.parse(out).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == (str(tests), str(failures))


def test_the_json_of_a_failed_output_is_not_written(captures, tmp_path, capsys):
    out = tmp_path / "out.json"
    assert steertag(captures["violating"], "--json", out, "--junit", tmp_path / "no/x.xml") == 2
    assert not out.exists()


def test_annotate(captures, tmp_path, capsys):
    out = tmp_path / "out.pcapng"
    assert steertag(captures["violating"], "--annotate", out) == 1
    octets = out.read_bytes()
    assert f"steertag: {GRANTS_ZERO} (MUST NOT".encode() in octets
    again = json_of(out)["files"][0]
    before = json_of(captures["violating"])["files"][0]
    assert again["findings"] == before["findings"]


@pytest.mark.parametrize("paths", [["a", "b"], ["-"]])
def test_annotate_takes_one_file(tmp_path, capsys, paths):
    with pytest.raises(SystemExit) as ended:
        steertag(*paths, "--annotate", tmp_path / "out.pcapng")
    assert ended.value.code == 2


def test_several_connections_are_told_apart(tmp_path, capsys):
    with grade_captures.Talk(0) as good, grade_captures.Talk(1) as bad:
        good.exchange(1)
        bad.exchange(1, grant=0)
    path = grade_captures.write(tmp_path / "two.pcapng", good, bad)
    (file,) = json_of(path)["files"]
    by_end = {each["client"]: each for each in file["connections"]}
    assert by_end["192.0.2.1:700"]["findings_in_all"] == 0
    assert by_end["192.0.2.1:701"]["findings_in_all"] == 1
    assert file["findings"][0]["connection"] == by_end["192.0.2.1:701"]["number"]


def test_a_port_can_be_named(tmp_path, capsys):
    with grade_captures.Talk(port=4711, private_data=b"") as talk:
        talk.call(grade_captures.words(1, 1, 32, 4, 2))  # does not identify the protocol
    path = grade_captures.write(tmp_path / "port.pcapng", talk)
    assert steertag(path) == 3
    assert steertag(path, "--port", "4711") == 1
    assert "192.0.2.2:4711" in capsys.readouterr().out


@pytest.mark.parametrize("port", ["0", "65536", "nfs"])
def test_a_port_is_a_number(port, capsys):
    with pytest.raises(SystemExit) as ended:
        steertag("a", "--port", port)
    assert ended.value.code == 2


def test_standard_input(captures):
    with open(captures["violating"], "rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "steertag.cli", "grade", "-"],
            stdin=file,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    assert done.returncode == 1, done.stderr
    assert "standard input: " in done.stdout


def test_a_signal_ends_the_wait_for_a_capture(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([sys.executable, "-c", INTERRUPTIBLE, "grade", str(fifo)]) as process:
        try:
            with open(fifo, "wb") as writer:  # returns once the reader has opened it too
                writer.write(b"\x0a")
                writer.flush()
                process.send_signal(signal.SIGINT)
                assert process.wait(DEADLINE_S) == 128 + signal.SIGINT
        finally:
            process.kill()


def test_a_fifo_is_opened_once(tmp_path):
    """A second reader would take the writer's partner away, and so end it."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    look = "import sys; from steertag.grade.compressed import is_compressed; print(is_compressed(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", look, str(fifo)], capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert done.stdout == "False\n", done.stderr


def test_a_report_that_cannot_be_written_is_an_error(captures, tmp_path, capsys):
    assert steertag(captures["clean"], "--json", tmp_path / "none" / "out.json") == 2
    assert steertag(captures["clean"], "--junit", tmp_path) == 2
    assert steertag(captures["clean"], "--annotate", tmp_path / "none" / "out.pcapng") == 2
    assert os.strerror(errno.ENOENT) in capsys.readouterr().err


def test_names_of_files_cannot_harm(captures, tmp_path, capsys):
    path = tmp_path / os.fsdecode(b"\x1b[31m\xff.pcapng")
    shutil.copy(captures["violating"], path)
    junit = tmp_path / "junit.xml"
    assert steertag(path, "--junit", junit, "--json", tmp_path / "out.json") == 1
    assert "\x1b" not in capsys.readouterr().out
    xml.parse(junit)
    assert json.loads((tmp_path / "out.json").read_text())["files"][0]["file"] == str(path)


class Report:
    """A report of more findings than are kept."""

    def __init__(self, findings, connections, findings_in_all):
        self.findings, self.connections = findings, connections
        self.findings_in_all = findings_in_all
        self.connections_in_all, self.connections_refused = 9000, 0
        self.connections_unjudged, self.messages_judged = 0, 9
        self.findings_by_rule, self.files = [], []


def test_findings_of_which_nothing_is_kept_count_as_violations():
    found = graded.Graded("a.pcap", None, Report([], [], 3))
    assert found.status is graded.Status.VIOLATIONS
    assert any("3 further findings" in line for line in grade_text.totals(found))


@pytest.mark.parametrize("quiet", [False, True])
def test_connections_that_were_too_many_are_told(capsys, quiet):
    report = Report([], [], 0)
    report.connections_refused = 808
    grade_commands._print(graded.Graded("a.pcap", None, report, 9, forgotten=1), all, quiet)
    lines = capsys.readouterr().out.splitlines()
    assert "  808 connections were not judged: too many were open at once" in lines
    assert "  1 connection was evicted before the end: too many were open at once" in lines


def test_connections_without_a_whole_message_are_told(captures, capsys):
    found = reading.grade_file(str(captures["clean"]), [])
    found.report = Report([], [], 0)
    found.report.connections_unjudged = 2
    grade_commands._print(found, all, quiet=True)
    assert "2 of 9000 connections were not judged" in capsys.readouterr().out


def test_long_tables_are_cut(captures, monkeypatch):
    rows = [
        row
        for name in ("violating", "warned")
        for row in reading.grade_file(str(captures[name]), []).rows
    ]
    monkeypatch.setattr(grade_text, "MOST_LISTED", 1)
    lines = list(grade_text.findings(rows))
    assert lines[-1] == "... and 1 more, which --json lists"


def test_a_comment_names_all_that_a_reader_needs(captures):
    (row,) = reading.grade_file(str(captures["violating"]), []).rows
    assert annotation.comment(row).startswith(
        f"steertag: {GRANTS_ZERO} (MUST NOT, RFC 8166 3.3.1) by the server: "
    )


def test_the_help_tells_the_exit_statuses(capsys):
    with pytest.raises(SystemExit):
        steertag("--help")
    out = capsys.readouterr().out
    for status in (
        grade_commands.CLEAN,
        grade_commands.VIOLATIONS,
        grade_commands.UNREADABLE,
        grade_commands.NOTHING,
    ):
        assert f"\n  {status}  " in out


def grade_into(output, *arguments):
    """The exit status and the last line of standard error of a command that writes to `output`."""
    command = [sys.executable, "-c", INTERRUPTIBLE, "grade", *map(str, arguments)]
    done = subprocess.run(
        command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S, check=False
    )
    return done.returncode, done.stderr.splitlines()[-1:]


def test_a_reader_that_goes_away_changes_no_verdict(captures):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        assert grade_into(pipe, captures["violating"]) == (1, [])
        assert grade_into(pipe, captures["clean"], "--json", "-") == (0, [])


@pytest.mark.parametrize("options", [(), ("--json", "-")])
def test_output_that_cannot_be_written_is_no_violation(captures, options):
    with open("/dev/full", "wb") as full:
        status, said = grade_into(full, captures["clean"], *options)
    assert (status, said) == (2, ["steertag: standard output: No space left on device"])
