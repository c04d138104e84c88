"""Words of a target reach no terminal and no report as they are: each is a text there, and nothing obeys it."""

import contextlib
import errno
import json
import socket
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest
import yaml
from steertag_command import bundled, RUN_LIMIT_S, steertag

from steertag import fabric, nfs, rpc

# A title, a colour, the other direction, an octet that is no UTF-8, commands of a CI service, XML, YAML and Markdown.
WORDS = (
    "\x1b]0;title\x07\x9b31m\u202e\udcff\r\n::error::obeyed\n##[add-mask]e%0A::add-path::/tmp\n"
    "]]></failure><script>x</script> - {a: *b} | `c` \0"
)
CASES = f"""
from steertag.suite import case, expect
from steertag.suite.cases.case_run import current_run

VERSION = "RFC8166-4.5.1-1"
WORDS = {WORDS!a}

@case("self.value", requirements=[VERSION])
def test_value(bench):
    conn = bench.connect()
    outcome = conn.exchange(conn.null_call())
    expect.equal(WORDS, "name", VERSION, "name", outcome=outcome)

@case("self.variant", requirements=[VERSION])
def test_variant(bench):
    bench.latitude(VERSION, WORDS)

@case("self.warning", requirements=[VERSION])
def test_warning(bench):
    bench.warn(VERSION, WORDS)

@case("self.lack", requirements=[VERSION])
def test_lack(bench):
    bench.unsupported(WORDS)

@case("self.error", requirements=[VERSION])
def test_error(bench):
    raise ValueError(WORDS)

@case("self.found", requirements=[VERSION])
def test_found(bench):
    current_run().found(VERSION, WORDS, None, "send", 1)
    bench.not_testable(WORDS)
"""
CASES_IN_ALL = 6


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """(report directory, output) of a run in two processes that shows all it has."""
    folder = tmp_path_factory.mktemp("words")
    (folder / "test_cases.py").write_text(CASES)
    command = [sys.executable, "-m", "pytest", "test_cases.py", "-p", "steertag.suite.plugin"]
    command += ["--rootdir", str(folder), "--report", "report", "-n", "2", "-v", "-rA"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=RUN_LIMIT_S)
    output = (done.stdout + done.stderr).decode()
    return folder / "report", output.replace("\r[gw", "[gw")  # of xdist


def expect_harmless(text):
    """No character is left that a terminal obeys, and no line begins as a command of a CI service."""
    assert [each for each in text if not each.isprintable() and each not in "\n\t"] == []
    lines = [line.strip() for line in text.splitlines()]
    assert not [line for line in lines if line.startswith(("::", "##["))]


def test_the_terminal_obeys_nothing(ran):
    _, output = ran
    assert "\\x1b]0;title\\x07" in output, "the words are there"
    expect_harmless(output)


def test_reports_are_whole(ran):
    report, _ = ran
    document = json.loads((report / "report.json").read_text(encoding="utf-8"))
    assert len(document["cases"]) == CASES_IN_ALL
    for path in report.rglob("*"):
        if path.suffix in (".json", ".xml", ".txt"):
            expect_harmless(path.read_text(encoding="utf-8"))
    cases = xml.parse(report / "junit.xml").getroot().iter("testcase")
    assert len(list(cases)) == CASES_IN_ALL
    assert "<script>x" not in (report / "index.html").read_text(encoding="utf-8")


def test_files_have_names_of_the_suite(ran):
    report, _ = ran
    names = {path.name for path in report.rglob("*") if path.is_file()}
    assert {"self.value.pcapng", "self.value.steertag", "self.value.txt"} <= names
    assert all(name.isprintable() for name in names)


def test_a_capture_and_a_recording_of_them_are_shown(ran):
    report, _ = ran
    graded = steertag("grade", "-v", report / "captures" / "self.value.pcapng")
    shown = steertag("replay", "--show", report / "failures" / "self.value.steertag")
    for done in (graded, shown):
        assert done.returncode in (0, 1) and done.stdout, done.stderr
        expect_harmless(done.stdout)


def test_a_baseline_of_them_is_what_the_run_saw(ran, tmp_path):
    report, _ = ran
    document = json.loads((report / "report.json").read_text(encoding="utf-8"))
    # A baseline expects no error of the suite.
    document["cases"] = [row for row in document["cases"] if row["verdict"] != "harness-error"]
    seen, path = tmp_path / "report.json", tmp_path / "known.yaml"
    seen.write_text(json.dumps(document))
    target = "--target", "hostile", "--note", "it says so"
    done = steertag("baseline", "update", "--from", seen, *target, "--", path)
    assert done.returncode == 0, done.stderr
    expect_harmless(done.stdout)
    reasons = {row["case"]: row["reason"] for row in yaml.safe_load(path.read_text())["rows"]}
    assert len(reasons) == CASES_IN_ALL - 1
    assert reasons == {row["id"]: row["reason"] for row in document["cases"]}
    assert steertag("baseline", "check", seen, path).returncode == 0


@pytest.mark.parametrize("name", ["markdown", "gitlab", "badge"])
def test_summaries_obey_nothing(ran, name):
    report, _ = ran
    done = steertag("summary", report, "--format", name)
    assert done.returncode == 0, done.stderr
    expect_harmless(done.stdout)


# What a server gets: a record mark or an MPA request that are words, and words in places of their own.
OCTETS = WORDS.encode("utf-8", "surrogateescape")
MPA_REQUEST = b"MPA ID Req Frame"
STARTS = {
    "record": (b"", "tcp"),
    "startup": (b"", "rdma"),
    "private-data": (MPA_REQUEST + b"\x40\x01" + len(OCTETS).to_bytes(2, "big"), "rdma"),
    "path": (b"", "mount"),
}


def mount_call():
    """A record with a MOUNT of the words."""
    call = rpc.Call(xid=1, program=nfs.mount3.PROGRAM, version=3, procedure=1)
    path = "/" + WORDS.replace("\0", "")
    return rpc.record(call.encode(nfs.mount3.encode_args("MNT", nfs.mount3.DirPath(path=path))))


def end_of_octets(stream):
    """Shuts our half down, if the server has not ended the connection before."""
    try:
        stream.shutdown(socket.SHUT_WR)
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            raise


@pytest.mark.parametrize("name", STARTS)
def test_the_log_of_a_server_obeys_nothing(tmp_path, name):
    start, over = STARTS[name]
    octets = mount_call() if over == "mount" else start + OCTETS
    with bundled(tmp_path, over="rdma" if over == "rdma" else "tcp") as url:
        place = fabric.parse_url(url)
        with socket.create_connection((place.host, place.port), RUN_LIMIT_S) as stream:
            stream.settimeout(RUN_LIMIT_S)
            stream.sendall(octets)
            with contextlib.suppress(ConnectionError):
                end_of_octets(stream)
                while stream.recv(4096):
                    pass
    (log,) = tmp_path.glob("server-*.log")
    expect_harmless(log.read_text(encoding="utf-8"))
