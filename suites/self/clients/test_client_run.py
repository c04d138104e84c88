"""Whole runs against clients: what a client does becomes exactly its verdict."""

import contextlib
import os
import pathlib
import select
import signal
import subprocess
import sys

import pytest

from steertag import fabric
from steertag.suite.cases.case_end import EXCHANGES
from steertag.suite.client.client_outcome import copy_fault, left_connection, MOST_COPY
from steertag.suite.client.client_process import ClientProcess, LEADER, living_members

SCRIPT = pathlib.Path(__file__).parent / "scripted_client.py"
# Above what a run of the scripted client takes on a loaded machine.
LIMIT = "60"
HANG_LIMIT = "8"  # short enough to wait for
CASES = """
    import os, signal
    from steertag.suite import case, client_kinds as kinds, expect

    LOSS = "RFC8166-4.5.5-1"

    @case("client.self.one", requirements=[LOSS])
    def test_one(bench):
        expect(bench.use(), LOSS, must=[kinds.COMPLETED])

    @case("client.self.two", requirements=[LOSS])
    def test_two(bench):
        expect(bench.use(), LOSS, must=[kinds.COMPLETED], latitude={kinds.REFUSED: "it may"})
"""
OWN = """
    from steertag.suite import case, client_kinds as kinds, expect
    from steertag.suite.client.script import is_read

    ERRORS, LOSS = "RFC8166-4.5-3", "RFC8166-4.5.5-1"

    @case("client.self.own", requirements=[LOSS])
    def test_own(bench):
        expect(bench.use(), LOSS, must=[kinds.COMPLETED])

    @case("client.self.bad-version", requirements=[ERRORS], hostile=True)
    def test_bad_version(bench):
        def interpose(reply):
            reply.send_mutated("version.2")
            reply.conform()

        expect(bench.use(reply=interpose, when=is_read), ERRORS, must=[kinds.COMPLETED])

    @case("client.self.never", requirements=[LOSS])
    def test_never(bench):
        expect(bench.use(reply=lambda reply: None, when=lambda reply: False), LOSS, must=["completed"])

    @case("client.self.raises", requirements=[LOSS])
    def test_raises(bench):
        bench.use(reply=lambda reply: {}["missing"])

    @case("client.self.unmarked", requirements=[LOSS])
    def test_unmarked(bench):
        def interpose(reply):
            reply.send_mutated("version.2")
            reply.conform()

        expect(bench.use(reply=interpose), LOSS, must=[kinds.COMPLETED])
"""


TRANSFER = """
    from steertag.suite import case, client_kinds as kinds, expect

    LOSS = "RFC8166-4.5.5-1"

    @case("client.self.transfer", requirements=[LOSS])
    def test_transfer(bench):
        expect(bench.use(transfer="optimistic"), LOSS, must=[kinds.COMPLETED])
"""


class Clients:
    """Runs of the suite against the scripted client."""

    def __init__(self, suite):
        self._suite = suite

    def run(self, words, *arguments):
        counter = self._suite.pytester.path / "runs"
        command = f"{sys.executable} {SCRIPT} {counter} {words} {{url}}"
        limit = HANG_LIMIT if "hang" in words else LIMIT
        return self._suite.run("--client-command", command, "--client-timeout", limit, *arguments)

    def rows(self):
        return {row["id"]: row for row in self._suite.document()["cases"]}


@pytest.fixture
def clients(suite):
    suite.cases(test_cases=CASES)
    return Clients(suite)


def test_good_client_passes(clients, suite):
    result = clients.run("good", "--captures", "all")
    assert result.ret == 0, result.stdout.str()
    assert suite.verdicts() == {"client.self.one": "pass", "client.self.two": "pass"}
    assert "scripted_client.py" in suite.document()["target"]
    captures = {path.name for path in (suite.report / "captures").iterdir()}
    assert captures == {"client.self.one.pcapng", "client.self.two.pcapng"}


@pytest.mark.parametrize(
    "word, verdict, reason",
    [
        ("corrupt", "fail", "RFC8166-4.5.5-1: expected completed, saw corrupted"),
        ("cut", "fail", "RFC8166-4.5.5-1: expected completed, saw corrupted"),
        ("nothing", "fail", "RFC8166-4.5.5-1: expected completed, saw corrupted"),
        ("refuse", "fail", "RFC8166-4.5.5-1: expected completed, saw refused"),
        ("refuse-corrupting", "fail", "RFC8166-4.5.5-1: expected completed, saw corrupted"),
        ("crash", "crash", "the client ended with signal SIGSEGV"),
        ("hang", "hang", "RFC8166-4.5.5-1: expected completed, saw hang"),
        ("hang-for-ever", "hang", "RFC8166-4.5.5-1: expected completed, saw hang"),
    ],
)
def test_wrong_client_gets_its_verdict(clients, word, verdict, reason):
    # First contact, the case, its probe, the other case, its probe.
    assert clients.run(f"good,{word},good").ret == 1
    rows = clients.rows()
    assert (rows["client.self.one"]["verdict"], rows["client.self.one"]["reason"]) == (
        verdict,
        reason,
    )
    assert rows["client.self.two"]["verdict"] == "pass"


def test_half_a_copy_of_a_client_that_refuses_is_legal(clients):
    assert clients.run("good,good,good,refuse-half,good").ret == 0
    assert clients.rows()["client.self.two"]["verdict"] == "latitude"


def test_client_that_does_not_recover_ends_the_run(clients):
    result = clients.run("good,good,refuse")
    assert result.ret != 0
    row = clients.rows()["client.self.one"]
    assert row["verdict"] == "fail"
    assert "does not complete with an unaltered server any more: refused" in row["reason"]
    assert "no further case was run" in result.stdout.str()


def test_a_machine_that_dies_after_a_case_has_crashed(clients, suite):
    (suite.pytester.path / "profile").write_text("died: ['true']\n")
    clients.run("good,good,refuse", "--profile", "profile")
    row = clients.rows()["client.self.one"]
    assert (row["verdict"], row["reason"]) == ("crash", "after the case the client is dead")


@pytest.mark.parametrize(
    "words, what",
    [
        ("refuse", "refused, exit status 1: scripted client: no"),
        ("crash", "crash, the client ended with signal SIGSEGV"),
    ],
)
def test_client_that_cannot_be_tested_is_one_sentence(clients, words, what):
    result = clients.run(words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stderr.str()
    assert "the client does not complete with an unaltered server: " + what in text
    assert "Traceback" not in text


def test_a_client_that_copies_wrong_octets_at_first_gets_its_verdict(clients, suite):
    result = clients.run("corrupt")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (row,) = clients.rows().values()
    assert (row["id"], row["verdict"]) == ("client.first-contact", "fail")
    assert row["reason"] == f"{EXCHANGES}: the copy differs from the source"
    text = (suite.report / "texts" / "client.first-contact.txt").read_text()
    assert "corrupted, octet 100 of the copy is" in text


def test_the_first_use_of_all_may_fail(clients):
    """A machine that loads what it needs by it."""
    assert clients.run("refuse,good").ret == 0


def test_the_command_has_the_transfer_that_a_case_asks_for(suite):
    suite.cases(test_cases=TRANSFER)
    said, counter = (suite.pytester.path / name for name in ("said", "runs"))
    client = f"{sys.executable} {SCRIPT} {counter} good {{url}}"
    result = suite.run("--client-command", f"echo {{transfer}} >> {said}; {client}")
    assert result.ret == 0, result.stdout.str()
    first, *others = said.read_text().split()
    assert first == "as-needed", "the first contact asks for nothing"
    assert others == ["optimistic", "as-needed"], "the case, and the probe behind it"


def test_shell_names_a_program_that_is_not_there(suite):
    suite.cases(test_cases=CASES)
    result = suite.run("--client-command", "no-such-program {url}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "exit status 127" in result.stderr.str()


def test_a_deviation_of_the_server_is_refused(suite):
    """It would change nothing, and the run would pass."""
    suite.cases(test_cases=CASES)
    result = suite.run("--deviate", "grants-zero")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--deviate is for cases for servers, and this run has none" in result.stderr.str()


def test_the_refusal_without_our_own_client_names_the_command_that_builds_it(suite, monkeypatch):
    suite.cases(test_cases=CASES)
    missing = suite.pytester.path / "steertag-copy"
    monkeypatch.setenv("STEERTAG_COPY", str(missing))
    result = suite.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stderr.str()
    command = "cmake --build --preset release --target steertag-copy"
    assert f"there is no {missing}: build it with `{command}`" in text
    assert "exit status" not in text and "Traceback" not in text


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--client-command", ""], "--client-command is empty: an unset variable?"),
        (["--client-timeout", "0"], "--client-timeout is above 0 and at most 3600 seconds"),
        (["--client-timeout", "nan"], "--client-timeout is above 0 and at most 3600 seconds"),
        (["--client-command", "true", "--client-nfs", "3"], "--client-nfs is for our own client"),
        (["--client-command", "true", "--client-deviate", "x"], "--client-deviate is for our own"),
        (
            ["--listen", "tcp://127.0.0.1:0", "--listen", "iwarp://127.0.0.1:0"],
            "--listen with a URL over RDMA comes before those over TCP",
        ),
        (
            ["--listen", "iwarp://127.0.0.1:0", "--listen", "tcp://127.0.0.1:0"],
            "only a client command needs that",
        ),
        (["--listen", "carrier-pigeon://127.0.0.1"], "--listen carrier-pigeon://127.0.0.1"),
    ],
)
def test_wrong_options_are_one_sentence(suite, arguments, sentence):
    suite.cases(test_cases=CASES)
    result = suite.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert sentence in result.stderr.str()
    assert "Traceback" not in result.stderr.str()


def test_a_second_place_over_tcp_serves_the_same(suite):
    """MOUNT over TCP, as Linux wants it."""
    suite.cases(test_cases=CASES)
    counter = suite.pytester.path / "runs"
    result = suite.run(
        *("--listen", "iwarp://127.0.0.1:0", "--listen", "tcp://127.0.0.1:0"),
        *("--client-command", f"{sys.executable} {SCRIPT} {counter} good {{url}}"),
    )
    assert result.ret == 0, result.stdout.str()


def test_own_client(suite):
    suite.cases(test_cases=OWN)
    result = suite.run()
    verdicts = suite.verdicts()
    assert verdicts["client.self.own"] == "pass", result.stdout.str()
    assert verdicts["client.self.bad-version"] == "pass"
    assert verdicts["client.self.never"] == "not-testable"
    assert verdicts["client.self.raises"] == "harness-error"
    assert verdicts["client.self.unmarked"] == "harness-error"
    assert suite.document()["target"] == "bundled client, NFS version 4.1"


def test_a_version_of_nfs_has_two_spellings(suite):
    suite.cases(test_cases=OWN)
    result = suite.run("-k", "test_own", "--client-nfs", "v3")
    assert result.ret == 0, result.stdout.str()
    assert suite.document()["target"] == "bundled client, NFS version 3"


def test_deviating_client_is_blamed(suite):
    suite.cases(test_cases=OWN)
    suite.run("-k", "own or bad_version", "--client-deviate", "done-sent")
    rows = {row["id"]: row for row in suite.document()["cases"]}
    assert rows["client.self.own"]["verdict"] == "fail"
    assert {found["id"] for found in rows["client.self.own"]["findings"]} == {"RFC8166-4.6.2-1"}


def test_a_client_that_ends_its_connection_has_not_just_completed(suite):
    suite.cases(test_cases=OWN)
    suite.run("-k", "own or bad_version", "--client-deviate", "bad-reply-disconnects")
    rows = {row["id"]: row for row in suite.document()["cases"]}
    assert rows["client.self.own"]["verdict"] == "pass"
    row = rows["client.self.bad-version"]
    expected = ("fail", "RFC8166-4.5-3: expected completed, saw left")
    assert (row["verdict"], row["reason"]) == expected


class Conn:
    """A connection as left_connection looks at it. It has the XIDs of its calls and of those with a reply, how it
    ended, and the number of its data server."""

    def __init__(self, xids, answered, end, server=None):
        self.server = server
        self.calls = [Sent(xid) for xid in xids]
        self.answered = set(answered)
        self.reason = Reason(getattr(fabric.ErrorCode, end)) if end else None


class Sent:
    def __init__(self, xid):
        self.xid = xid


class Reason:
    def __init__(self, code):
        self.code = code


ALL, LAST = Conn([1, 2], [1, 2], "peer_closed"), Conn([3], [3], "peer_closed")


@pytest.mark.parametrize(
    "connections, usual, left",
    [
        ([ALL], 1, False),
        ([ALL, LAST], 2, False),
        ([ALL, LAST], 1, True),
        ([ALL, LAST], None, False),
        ([ALL, Conn([3], [3], "peer_closed", server=0)], 1, False),
        ([Conn([], [], "peer_closed"), ALL], 1, False),
        ([Conn([], [], None), ALL], 1, False),
        ([Conn([1, 2], [1, 2], "local_close"), LAST], 1, False),
        ([Conn([1, 2], [1, 2], "peer_terminated"), LAST], 1, False),
        ([Conn([1, 3], [1, 3], "peer_reset"), LAST], 2, True),
        ([Conn([1, 3], [1], "peer_reset"), LAST], 2, False),
        ([Conn([1, 3], [1, 3], "local_close"), LAST], 2, False),
        ([Conn([1], [], "local_close"), Conn([1, 2], [1, 2], "peer_closed"), LAST], 1, True),
        ([Conn([1], [], "local_close"), Conn([1, 2], [1, 2], "peer_closed"), LAST], 2, False),
        ([Conn([1], [], "local_close"), Conn([1, 2], [], "peer_terminated"), LAST], 1, False),
    ],
)
def test_which_connections_a_client_has_left(connections, usual, left):
    assert (left_connection(connections, usual) is not None) == left


def test_unknown_deviation_is_one_sentence(suite):
    suite.cases(test_cases=OWN)
    result = suite.run("--client-deviate", "asks-for-no-credit")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "the nearest are asks-for-no-credits" in result.stderr.str()


SOURCE = bytes(range(1, 101))


@pytest.mark.parametrize(
    "copy, completed, wrong",
    [
        (SOURCE, True, False),
        (None, True, True),
        (None, False, False),
        (SOURCE[:-1], True, True),
        (SOURCE[:-1], False, False),
        (SOURCE + b"x", False, True),
        (bytes(50) + SOURCE[50:], False, False),
        (bytes(50) + SOURCE[50:], True, True),
        (SOURCE[:50] + b"\xff" + SOURCE[51:], False, True),
        (b"", False, False),
    ],
)
def test_what_a_copy_may_be(copy, completed, wrong):
    assert (copy_fault(SOURCE, copy, completed) is not None) == wrong


def test_a_copy_of_any_size_is_told_as_far_as_it_is_looked_at():
    fault = copy_fault(SOURCE, bytes(MOST_COPY), True)
    assert fault == f"the copy has {MOST_COPY} octets or more, the source 100"


def test_nothing_of_a_killed_client_stays(clients, suite):
    clients.run("good,hang-for-ever,good", "-k", "one")
    here = str(suite.pytester.path)
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            assert not (b"scripted_client" in words and here.encode() in words)


# A client's end is a race with the shell that looks for it; so many ends show what goes wrong in one of
# four.
ENDS = 40


@pytest.mark.parametrize("shell", ["bash", "dash"])
@pytest.mark.parametrize("command, status", [("exit 3", 3), ("kill -SEGV $$", 128 + 11)])
def test_leader_ends_as_a_client_that_ends_at_once(shell, command, status):
    words = [shell, "-c", LEADER, "client", "/bin/sh", "-c", command]
    ends = {
        subprocess.run(words, start_new_session=True, capture_output=True).returncode
        for _ in range(ENDS)
    }
    assert ends == {status}


def test_client_that_notices_sigterm_ends_as_it_likes(tmp_path):
    """A mount is taken back: the shell that has a trap goes on behind the command that SIGTERM ends."""
    told, undone = tmp_path / "told", tmp_path / "undone"
    os.mkfifo(told)
    # The child tells: until its first command, it takes a SIGTERM for the shell's, and lives on.
    command = f"trap : TERM; (echo > {told}; exec sleep 600) & wait; echo > {undone}"
    with contextlib.closing(ClientProcess(command)) as process:
        told.read_text()
        process.kill()
        assert undone.exists()


# A client with a child that does not care for SIGTERM; it tells when that is so.
FAMILY = "(trap '' TERM; echo > {told}; exec sleep 600) & sleep 600"
# A run of the suite in small: it waits until it dies.
RUN = """
import signal, sys
from steertag.suite.client.client_process import ClientProcess
print(ClientProcess(sys.argv[1]).pid, flush=True)
signal.pause()
"""
END_MS = 10000


@pytest.fixture
def family(tmp_path):
    """(The command of a client with children, a function that returns when they are there)."""
    told = tmp_path / "told"
    os.mkfifo(told)
    return FAMILY.format(told=told), told.read_text


def test_kill_ends_all_that_the_client_has_started(family):
    command, await_children = family
    with contextlib.closing(ClientProcess(command)) as process:
        await_children()
        process.kill()
        assert process.ended and not list(living_members(process.pid))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_a_suite_that_is_killed(family, number):
    command, await_children = family
    suite = subprocess.Popen([sys.executable, "-c", RUN, command], stdout=subprocess.PIPE)
    group = int(suite.stdout.readline())
    await_children()
    members = list(living_members(group))
    assert members
    ends = [os.pidfd_open(member) for member in members]
    suite.send_signal(number)
    suite.wait(END_MS / 1000)
    suite.stdout.close()
    for member, end in zip(members, ends):
        assert select.select([end], [], [], END_MS / 1000)[0], f"process {member} goes on"
        os.close(end)


DIES = """
    import os
    from steertag.suite import case

    @case("client.self.dies", requirements=["RFC8166-4.5.5-1"])
    def test_dies(bench):
        os._exit(3)
"""


def test_a_worker_that_dies_leaves_the_case_its_id_and_its_target(suite):
    suite.cases(test_dies=DIES)
    assert Clients(suite).run("good", "-n", "1").ret != 0
    assert suite.verdicts() == {"client.self.dies": "harness-error"}
    assert suite.document()["target"].startswith("client ")
