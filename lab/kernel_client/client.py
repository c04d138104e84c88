"""A run of the workload: Linux as a client of our server, version by version, step by step."""

from __future__ import annotations

import collections
import dataclasses
import json
import pathlib
import shutil
import time
from collections.abc import Callable

from lab import host
from lab.failure import LabFailure
from lab.gates.gate_table import PASSED, Row
from lab.images.image import Image, built_kernel
from lab.kernel_client.own_steps import OwnSteps
from lab.kernel_client.server import Server
from lab.kernel_client.workload import LOCAL, PNFS, Selection, Step
from lab.machines import own_network
from lab.machines.channel import Silent
from lab.machines.guest_machine import Guest
from lab.target import PROJECT, Target

# Beyond a step's limit: the agent needs that long to gather why a step hangs.
ANSWER_GRACE_S = 60
RESTART_SERVER = "ask restart-server"
DATA_SERVERS = 2

PASS, FAIL, HANG, NOT_RUN, NOT_APPLICABLE = "pass", "FAIL", "HANG", "not run", "-"
VERDICTS = {"pass": PASS, "fail": FAIL, "hang": HANG}


@dataclasses.dataclass
class Result:
    """How one step went; `log` is what it printed if it did not pass."""

    step: str
    version: str
    storage: str
    verdict: str
    seconds: float = 0.0
    detail: str = ""
    log: list[str] = dataclasses.field(default_factory=list)

    def column(self) -> str:
        return f"{self.version} {self.storage}".strip()


def run_step(guest: Guest, step: Step, version: str, storage: str, server: Server | None) -> Result:
    """Runs one step; what it asks the lab for is done on the way."""
    ports = server.ports if server else {"rdma": 0, "tcp": 0}
    limit_s = step.limit_s
    order = f"run {step.name} {version} {ports['rdma']} {ports['tcp']} {limit_s}"
    deadline = time.monotonic() + limit_s + ANSWER_GRACE_S
    log = []
    try:
        guest.channel.send(order)
        while True:
            line = guest.channel.read_line(deadline)
            if line == RESTART_SERVER:
                server.restart()
            elif result := parse(line, step, version, storage):
                result.log = log
                return result
            else:
                log.append(line.removeprefix("log "))
    except Silent:
        sentence = f"the guest did not answer within {limit_s + ANSWER_GRACE_S} s"
    except LabFailure as failure:
        sentence = str(failure)
    words = guest.machine.last_words().splitlines()
    return Result(step.name, version, storage, HANG, limit_s, sentence, log + words)


def parse(line: str, step: Step, version: str, storage: str) -> Result | None:
    """The result in `step NAME VERSION VERDICT SECONDS DETAIL`; None if the line is another one."""
    words = line.split(" ", 5)
    if words[:3] != ["step", step.name, version] or len(words) < 5 or words[3] not in VERDICTS:
        return None
    try:
        seconds = float(words[4])
    except ValueError:
        return None
    detail = words[5] if len(words) > 5 else ""
    return Result(step.name, version, storage, VERDICTS[words[3]], seconds, detail)


@dataclasses.dataclass
class Outcome:
    """Every step of every run; `defects` says by version and storage how the server ended badly.
    `kernel` is the version of the kernel's package."""

    results: list[Result]
    defects: dict[str, str]
    kernel: str = ""

    def passed(self) -> bool:
        """Whether something passed and nothing that applies did not."""
        some = any(result.verdict == PASS for result in self.results)
        return some and not self.defects and all(map(is_good, self.results))


def run(
    target: Target,
    program: pathlib.Path | None,
    selection: Selection,
    own: OwnSteps | None = None,
) -> Outcome:
    """Runs the workload and prints its table. `own` are the user's steps of the selection."""
    image = Image(target)
    image.build()
    directory = target.directory / "workload"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    network = own_network.make_network(target)
    guest = Guest(target, image, directory, own.copy if own else None, network)
    results, defects = [], {}
    try:
        for storage, version in selection.runs():
            server = None
            if version != LOCAL:
                folder = directory / f"server-{version}-{storage}"
                striped = DATA_SERVERS if version == PNFS else 0
                server = Server(program, storage, folder, network, striped)
            sentence = None
            try:
                if server:
                    sentence = server.start()
                results += run_version(guest, server, selection, version, storage, bool(sentence))
            finally:
                if server:
                    sentence = sentence or server.stop()
                    if striped and not sentence and any(map(uses_layouts, results)):
                        sentence = server.idle_data_servers()
                    server.close()
                if sentence:
                    defects[f"{version} {storage}"] = sentence
                    print(f"FAIL {version} {storage}: {sentence}", flush=True)
    finally:
        guest.power_off()
        if network:
            network.close()
        shutil.rmtree(directory / "scratch", ignore_errors=True)
        write_report(directory / "results.json", results)
    print(table(target.name, image.version(), results), flush=True)
    return Outcome(results, defects, built_kernel(target))


def run_version(
    guest: Guest,
    server: Server | None,
    selection: Selection,
    version: str,
    storage: str,
    stopped: bool,
) -> list[Result]:
    """All steps of one version over one storage. The rest is not run without a server (`stopped`),
    without a mount, or after a step that hangs."""
    results = []
    if not stopped:
        guest.boot()
    for step in selection.steps:
        result = Result(step.name, version, storage, NOT_RUN)
        if not selection.applies(step, storage, version):
            result.verdict = NOT_APPLICABLE
        elif not stopped:
            result = run_step(guest, step, version, storage, server)
            show(result, print)
            stopped = result.verdict == HANG or (step.name == "mount" and result.verdict != PASS)
        results.append(result)
    # What failed may have left something behind; a fresh machine does not know of it.
    if not all(map(is_good, results)):
        guest.power_off()
    return results


def is_good(result: Result) -> bool:
    return result.verdict in (PASS, NOT_APPLICABLE)


def uses_layouts(result: Result) -> bool:
    """Whether the step shows that its data went by the data servers."""
    return result.step == "layouts" and result.verdict == PASS


def show(result: Result, write: Callable[[str], None]) -> None:
    """One line for a result, and behind it the log of a step that did not pass."""
    write(
        f"{result.verdict:<4} {result.column():<15} {result.step:<10} {result.seconds:6.1f} s  "
        f"{result.detail}"
    )
    for line in result.log if result.verdict != PASS else []:
        write(f"     | {line}")


def rows(name: str, outcome: Outcome) -> list[Row]:
    """A row for each version and storage, for the table of the gate."""
    columns = list(dict.fromkeys(result.column() for result in outcome.results))
    made = []
    for column in columns:
        results = [result for result in outcome.results if result.column() == column]
        tally = collections.Counter(r.verdict for r in results if r.verdict != NOT_APPLICABLE)
        bad = [result.step for result in results if not is_good(result)]
        sentence = f"not passed: {', '.join(bad)}" if bad else PASSED
        if column in outcome.defects:
            sentence = "the server ended badly"
        counts = {key.lower(): tally[key] for key in tally}
        made.append(Row(name, column, counts, sentence, kernel=outcome.kernel))
    return made


def table(name: str, version: str, results: list[Result]) -> str:
    """The outcome of each step (rows) for each version and storage (columns), then the counts."""
    columns = list(dict.fromkeys(result.column() for result in results))
    rows = list(dict.fromkeys(result.step for result in results))
    cells = {(result.step, result.column()): result.verdict for result in results}
    width = max(map(len, (*columns, *rows)))
    lines = [f"{name} ({version})", ""]
    lines.append(" ".join(f"{text:<{width}}" for text in ("step", *columns)).rstrip())
    for row in rows:
        texts = (row, *(cells.get((row, column), NOT_RUN) for column in columns))
        lines.append(" ".join(f"{text:<{width}}" for text in texts).rstrip())
    counts = [sum(result.verdict == verdict for result in results) for verdict in (PASS, NOT_RUN)]
    bad = sum(result.verdict in (FAIL, HANG) for result in results)
    lines += ["", f"workload: {counts[0]} passed, {bad} failed, {counts[1]} not run"]
    return "\n".join(lines)


def write_report(path: pathlib.Path, results: list[Result]) -> None:
    """What the table shows and every detail, for programs."""
    path.write_text(json.dumps([dataclasses.asdict(result) for result in results], indent=1) + "\n")
    host.say(f"every detail is in {path.relative_to(PROJECT)}")
