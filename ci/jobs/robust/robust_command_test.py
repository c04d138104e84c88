"""What `ci/robust` compares, when it stops, and what it says then."""

import json
import os
import threading

import pytest

from ci.jobs.robust import robust_command
from ci.jobs.robust.load import LoadEnded
from ci.jobs.robust.robust_command import FAULTS, Runner, Stopped

LIMIT_S = 60
GREEN = [("pass", "server.a.b", ""), ("pass", "server.roce.c", "")]
NO_PACKETS = [GREEN[0], ("not-testable", "server.roce.c", "needs bent-packets")]
OTHER = [("latitude", "server.a.b", "the grant changes"), GREEN[1]]


def write(folder, rows):
    folder.mkdir(parents=True, exist_ok=True)
    cases = [dict(zip(("verdict", "id", "reason"), row)) for row in rows]
    (folder / "report.json").write_text(json.dumps({"cases": cases}))


class Told(Runner):
    """Has the reports that the test gives, in turn."""

    def __init__(self, folder, *reports, status=0):
        super().__init__("server", "roce", folder, 2)
        self.reports, self.status, self.runs = list(reports), status, []

    def run(self, seed, faults):
        self.runs.append((seed, faults))
        write(self.report, self.reports.pop(0))
        return self.status, "...\n2 passed in 0.1s\n"


class EndedLoad:
    def check(self):
        raise LoadEnded("the load ended with status 1")


def run(runner, *arguments, load=None):
    robust_command.robust(robust_command.parse(arguments), [runner], load)


def test_each_run_is_compared_with_the_first(tmp_path, capsys):
    runner = Told(tmp_path, GREEN, GREEN, GREEN)
    run(runner, "3", "7")
    assert runner.runs == [(7, 0), (8, 0), (9, 0)]
    assert capsys.readouterr().out.splitlines() == [
        "seed 7       2 passed in 0.1s",
        "seed 8       2 passed in 0.1s",
        "seed 9       2 passed in 0.1s",
        "the same verdicts 3 times",
    ]


def test_the_first_difference_stops_it_and_can_be_repeated(tmp_path):
    runner = Told(tmp_path, GREEN, OTHER, GREEN)
    with pytest.raises(Stopped) as stopped:
        run(runner, "3")
    assert len(runner.runs) == 2
    text = str(stopped.value)
    assert "\n-pass server.a.b \n+latitude server.a.b the grant changes\n" in text
    assert "suites/server -n 2 -q --listen roce://127.0.0.1:0" in text
    assert text.endswith("--random-order-seed=2")


def test_an_earlier_report_counts_as_the_first(tmp_path):
    write(tmp_path / "earlier", OTHER)
    with pytest.raises(Stopped, match="other verdicts than before"):
        run(Told(tmp_path, GREEN), "1", "1", str(tmp_path / "earlier"))


def test_with_faults_a_run_without_comes_first_and_exact_packets_do_not_count(tmp_path, capsys):
    runner = Told(tmp_path, GREEN, NO_PACKETS, NO_PACKETS)
    run(runner, "--over", "roce", "--faults", "5", "2")
    assert runner.runs == [(1, 0), (1, 5), (2, 5)]
    assert "seed 2       faults 5 %  2 passed in 0.1s" in capsys.readouterr().out


def test_another_verdict_with_faults_stops_it_and_names_them(tmp_path):
    with pytest.raises(Stopped, match=f"before: {FAULTS}=5 build/venv/bin/pytest"):
        run(Told(tmp_path, GREEN, OTHER), "--over", "roce", "--faults", "5", "1")


def test_a_run_that_is_not_green_shows_its_output(tmp_path):
    with pytest.raises(Stopped, match=r"(?s)^\.\.\..*this run was not green \(status 1\)"):
        run(Told(tmp_path, GREEN, status=1), "1")


def test_runs_at_once_have_folders_of_their_own_and_one_process_each(tmp_path):
    runners = robust_command.runners_of(robust_command.parse(["--at-once", "3"]), tmp_path)
    assert [each.logs.name for each in runners] == ["1", "2", "3"]
    assert all(each.logs.is_dir() for each in runners)
    assert {each.command(1)[3] for each in runners} == {"0"}


def test_only_the_cases_of_a_file(tmp_path):
    (tmp_path / "ids").write_text("server.a.b\nserver.a.c\n")
    options = robust_command.parse(["--cases", str(tmp_path / "ids")])
    (runner,) = robust_command.runners_of(options, tmp_path)
    assert runner.command(1)[-2:] == ["--case=server.a.b", "--case=server.a.c"]
    assert runner.words(1, 0).endswith("--random-order-seed=1 and --case for each of 2 ids")


def test_runs_at_once_meet(tmp_path, capsys):
    meeting = threading.Barrier(2, timeout=LIMIT_S)

    class Meets(Told):
        def run(self, seed, faults):
            meeting.wait()
            return super().run(seed, faults)

    runners = [Meets(tmp_path / name, GREEN, GREEN) for name in ("first", "second")]
    robust_command.robust(robust_command.parse(["4"]), runners, None)
    assert sorted(seed for each in runners for seed, _ in each.runs) == [1, 2, 3, 4]
    assert capsys.readouterr().out.endswith("the same verdicts 4 times\n")


def test_another_verdict_of_one_of_them_stops_all(tmp_path):
    runners = [Told(tmp_path / "first", *[GREEN] * 98), Told(tmp_path / "second", GREEN, OTHER)]
    with pytest.raises(Stopped, match="other verdicts than before"):
        robust_command.robust(robust_command.parse(["99"]), runners, None)
    assert len(runners[1].runs) == 2


def test_a_run_beside_no_load_does_not_count(tmp_path):
    with pytest.raises(LoadEnded):
        run(Told(tmp_path, GREEN), "1", load=EndedLoad())


def test_the_environment_of_a_run_has_its_faults_alone(tmp_path, monkeypatch):
    class Shown(Runner):
        def command(self, seed):
            return ["sh", "-c", f"echo faults ${FAULTS}"]

    monkeypatch.setenv(FAULTS, "9")
    runner = Shown("server", "roce", tmp_path, 2)
    assert runner.run(1, 5) == (0, "faults 5\n")
    assert runner.run(1, 0) == (0, "faults\n")


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["0"], "0 is not from 1 to 9999"),
        (["--at-once", "65"], "65 is not from 1 to 64"),
        (["1", "much"], "invalid number value: 'much'"),
        (["1", "1", "nowhere"], "nowhere has no report.json"),
        (["--faults", "5"], "--faults needs --over roce"),
        (["--over", "roce", "--faults", "26"], "26 is not from 1 to 25"),
        (["--cases", "nowhere"], "nowhere: [Errno 2] No such file"),
        (["--cases", os.devnull], f"{os.devnull} has no id of a case"),
        (["--suite", "other"], "invalid choice: 'other'"),
    ],
)
def test_bad_arguments_are_one_error(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        robust_command.parse(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_what_cannot_run_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert robust_command.main(["1"], tmp_path / "logs") == robust_command.CANNOT_RUN
    assert capsys.readouterr().err.startswith("robust: ")
