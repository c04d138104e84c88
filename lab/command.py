"""The command line of the lab: virtual machines with known targets for the suite."""

from __future__ import annotations

import argparse
import functools
import os
import shutil
from collections.abc import Callable

from lab import disk, host, inventory, smoke, target as targets
from lab.captures import capture
from lab.failure import LabFailure
from lab.gates import gate, gate_jobs, gate_table
from lab.images.image import Image
from lab.kernel_client import client, client_suite, own_steps, server, workload
from lab.machines import control, own_network, session
from lab.machines.machine import HOST
from lab.netem import provider_run, suite_run
from lab.netem.faults import Faults
from lab.power import loss
from lab.suite_runs import pair, provider_tests, suite
from lab.target import PROJECT, Target
from lab.unit import unit

EXIT_FAILED = 1
EXIT_LAB_FAILURE = 10  # outside pytest's codes 0 to 5: the lab, not the suite, has failed
EXIT_SIGNAL_BASE = 128
MOST_JOBS = 16  # a target's machines take up to 6 GiB


# The roles of machines that serve NFS/RDMA to the host, and that are clients of our server on the host.
# Of a pair, one machine serves and the suite runs in the other. Ganesha serves NFS over TCP. In the others
# our own server serves what is on a disk, is started by our package's units, or has a network with faults.
SERVER, CLIENT, PAIR, GANESHA, POWER = "server", "client", "pair", "ganesha", "power"
UNIT, NETEM = "unit", "netem"


def build(target: Target, _: argparse.Namespace) -> int:
    with session.exclusive(target):
        image = Image(target)
        image.build()
        host.say(f"{target.name} is built: {image.version()}, {image.size_mb():.0f} MB")
    return 0


def boot(target: Target, _: argparse.Namespace) -> int:
    with session.booted(target) as booted:
        way = " ".join(own_network.inside(booted.network, []))
        where = f", reached by: {way} COMMAND" if way else ""
        print(f"{booted.url()} mount port {booted.ports['mountd']}{where}", flush=True)
        booted.serve(until=None, limit_s=None)
    return 0


def restart(target: Target, _: argparse.Namespace) -> int:
    control.request_restart(target)
    return 0


def check(target: Target, _: argparse.Namespace) -> int:
    if target.provider != "iwarp":
        raise LabFailure(
            f"{target.name} is no target for that: without the engine the lab speaks iWARP only"
        )
    with session.booted(target) as booted:
        granted = smoke.rdma_null(HOST, booted.ports["rdma"])
        handle = smoke.tcp_mount(HOST, booted.ports["mountd"], target.export)
    print(f"NULL was answered, {granted} credits; {target.export} has handle {handle.hex()}")
    return 0


def run(target: Target, options: argparse.Namespace) -> int:
    if target.role == CLIENT:
        return 0 if run_workload(target, options).passed() else EXIT_FAILED
    if options.step or options.programs:
        raise LabFailure(f"--step and --programs are for clients; {target.name} is no client")
    suite.require()
    if target.role == PAIR:
        return pair.run(target, options.arguments)
    if target.role == NETEM:
        program = server.find_program(options.program)
        return suite_run.run(target, program, options.faults, options.arguments)
    shutil.rmtree(target.report, ignore_errors=True)
    with session.booted(target) as booted:
        status = suite.run(booted, options.arguments)
        if not booted.machine.alive():
            return status or EXIT_FAILED
        for complaint in booted.machine.complaints():
            host.say(f"the guest's console has: {complaint}")
    return status


def run_workload(target: Target, options: argparse.Namespace) -> client.Outcome:
    own = own_steps.load(options.step, options.programs, options.limit)
    selection = workload.select(options.arguments, own.steps() if own else ())
    served = selection.versions != (workload.LOCAL,)
    program = server.find_program(options.program) if served else None
    with session.exclusive(target):
        host.need(host.MACHINE_PROGRAMS)
        return client.run(target, program, selection, own)


def run_client_suite(target: Target, options: argparse.Namespace) -> int:
    suite.require()
    return client_suite.run(client_suite.Subject(target, options.nfs), options.arguments)


def compare(target: Target, options: argparse.Namespace) -> int:
    return 0 if gate_table.passed(gate_rows(target, options)) else EXIT_FAILED


def record(target: Target, _: argparse.Namespace) -> int:
    capture.run(target)
    return 0


def record_several(chosen: list[Target], options: argparse.Namespace) -> int:
    """Records one target after the other; the first that fails ends it."""
    for target in chosen:
        record(target, options)
    return 0


def show_targets(_: argparse.Namespace) -> int:
    print(inventory.text())
    return 0


def clean(options: argparse.Namespace) -> int:
    freed = disk.clean([targets.load(name).name for name in options.target])
    print(f"{freed / 1e6:.0f} MB are free again")
    return 0


def number(most: int) -> Callable[[str], int]:
    """The type of an option's value from 1 to `most`."""

    def convert(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {most}")
        return int(text)

    return convert


def compare_several(chosen: list[Target], options: argparse.Namespace) -> int:
    """Gates each target, goes on after one that fails, and ends with one table."""

    def gate_one(target: Target) -> list[gate_table.Row]:
        return gate_rows(target, options)

    if options.jobs == 1:
        rows = [row for target in chosen for row in gate_jobs.guarded(target, gate_one)]
    else:
        rows = gate_jobs.run(chosen, gate_one, options.jobs)
    print(gate_table.text(rows), flush=True)
    return 0 if gate_table.passed(rows) else EXIT_FAILED


def gate_rows(target: Target, options: argparse.Namespace) -> list[gate_table.Row]:
    """Gates one target; of a client's workload the baseline is that every step passes."""
    if not target.gated:
        raise LabFailure(
            f"{target.name} follows the newest kernel and has no baseline; run it, and compare its report "
            f"with the baseline of another by `steertag diff`"
        )
    if target.role != CLIENT:

        def run_server_suite(arguments: list[str]) -> int:
            return run(target, argparse.Namespace(**{**vars(options), "arguments": arguments}))

        return [gate.row(target.name, "suite", target, run_server_suite)]
    rows = client.rows(target.name, run_workload(target, options))
    for version in client_suite.VERSIONS:
        subject = client_suite.Subject(target, version)
        run_suite = functools.partial(client_suite.run, subject)
        rows.append(gate.row(target.name, f"suite {version}", subject, run_suite))
    return rows


def run_own(target: Target, options: argparse.Namespace) -> int:
    suite.require()
    return pair.run_own(target, options.arguments)


def run_provider_tests(target: Target, options: argparse.Namespace) -> int:
    test_programs = provider_tests.find_programs(options.program)
    with session.exclusive(target):
        host.need(host.MACHINE_PROGRAMS)
        if target.role == NETEM:
            return provider_run.run(target, test_programs, options.faults, options.arguments)
        return provider_tests.run(target, test_programs, options.arguments)


def lose_power(target: Target, options: argparse.Namespace) -> int:
    program = server.find_program(options.program)
    plan = loss.Plan(options.cuts, options.calls, options.seed, options.skip_sync)
    with session.exclusive(target):
        outcome = loss.run(target, program, plan)
    print(f"{outcome.first_losses()}{target.name}: {outcome.text()}", flush=True)
    return 0 if outcome.passed(plan) else EXIT_FAILED


def try_unit(target: Target, options: argparse.Namespace) -> int:
    package = unit.find_package(options.package)
    with session.exclusive(target):
        for sentence in unit.run(target, package):
            print(f"{target.name}: {sentence}", flush=True)
    return 0


def baseline(target: Target, _: argparse.Namespace) -> int:
    print(gate.skeleton(target), end="")
    return 0


# What can be done with a machine, by its role.
ACTIONS_OF_ROLE = {
    SERVER: (build, boot, restart, check, run, compare, record, run_provider_tests, baseline),
    CLIENT: (build, restart, run, run_client_suite, compare),
    GANESHA: (build, boot, restart, run, compare, baseline),
    POWER: (build, lose_power),
    UNIT: (build, try_unit),
    NETEM: (build, run, run_provider_tests),
    PAIR: (build, run, run_own, compare, record, run_provider_tests, baseline),
}


# What needs no machine: these take the options alone.
OF_THE_DISK = (show_targets, clean)

# What takes arguments after `--`.
TAKE_ARGUMENTS = (run, run_own, run_client_suite, run_provider_tests)

# What is asked of a target by each command.
COMMANDS = (
    (
        show_targets,
        "list",
        "list the targets: role, kernel, provider, memory, baseline, built image, disk",
    ),
    (
        clean,
        "clean",
        "remove what the lab has built, fetched and written for the targets, or for all, and say how much that was",
    ),
    (build, "build", "build the image of the target if it is not up to date"),
    (boot, "boot", "boot the target, print where it is, power it off at Ctrl-C"),
    (restart, "restart", "give the `boot` or `run` of this checkout a fresh machine, and wait"),
    (check, "smoke", "boot the target and see NFS/RDMA and MOUNT answer, without the engine"),
    (
        run,
        "run",
        "run the server suite against the target, exit with pytest's code; or, in a client, the workload; or, over a network with faults, compare the verdicts with those over loopback",
    ),
    (
        run_own,
        "own",
        "run the suite against our own server, both inside one machine over its RDMA device",
    ),
    (run_client_suite, "suite", "run the client suite against the client"),
    (
        compare,
        "gate",
        "compare every verdict of the suite with the target's baseline, and of a client also every step of the workload with success; of several targets, or all, with one table",
    ),
    (
        record,
        "capture",
        "record a Linux client and a Linux server over the target's device into fixtures/captures, once for each version of NFS",
    ),
    (
        run_provider_tests,
        "provider-tests",
        "run the tests over every provider inside the target, over its RDMA device or its network with faults",
    ),
    (
        lose_power,
        "power",
        "cut the power of a machine with our own server at many moments, and see that nothing acknowledged is lost",
    ),
    (
        try_unit,
        "unit",
        "start our server by the units of its package, in a machine whose first process is systemd",
    ),
    (baseline, "baseline", "print a baseline made from the last report, for a human to edit"),
)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command as `action`, with what else was given."""
    parser = argparse.ArgumentParser(prog="ci/lab", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for action, name, text in COMMANDS:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(action=action, arguments=[], program=None, programs=None, step=[])
        command.set_defaults(limit=own_steps.LIMIT_S, target=[], faults=Faults())
        _add_targets(command, action)
        _add_arguments(command, action)
    # argparse takes words behind an option for no positional arguments, though `--` stands before them.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:end])
    if arguments[end:] and options.action not in TAKE_ARGUMENTS:
        parser.error("this command takes no arguments after --")
    options.arguments = [*options.arguments, *arguments[end + 1 :]]
    return options


def _add_targets(command: argparse.ArgumentParser, action: Callable) -> None:
    help_text = f"one of: {', '.join(targets.names())}"
    if action is record:
        usual = " and ".join(capture.TARGETS)
        command.add_argument("target", nargs="*", help=f"{help_text}; {usual} if none is named")
        return
    if action is show_targets:
        return
    if action is not compare and action is not clean:
        command.add_argument("target", nargs=1, help=help_text)
        return
    command.add_argument("target", nargs="*", help=f"{help_text}; all of them if none is named")
    if action is clean:
        return
    command.add_argument(
        *("--jobs", "-j"),
        type=number(MOST_JOBS),
        default=1,
        help="targets at a time, if there are several; %(default)s by default",
    )


def _add_arguments(command: argparse.ArgumentParser, action: Callable) -> None:
    if action is run:
        command.add_argument(
            "--program",
            help="our server, for a client or a network with faults; by default the one built",
        )
        _add_own_steps(command)
    if action in (run, run_provider_tests):
        _add_faults(command)
    if action is lose_power:
        _add_power(command)
    if action is try_unit:
        command.add_argument("--package", help="the Debian package; by default that of ci/package")
    if action is run_client_suite:
        command.add_argument(
            "--nfs",
            type=lambda text: f"v{text.removeprefix('v')}",  # "3" is another spelling of "v3"
            choices=client_suite.VERSIONS,
            default=client_suite.VERSIONS[0],
            help="the version of NFS with which the client mounts; %(default)s by default",
        )
    if action in TAKE_ARGUMENTS and action is not run_provider_tests:
        command.add_argument(
            "arguments",
            nargs="*",
            help="after --: arguments for pytest; or versions, storages and steps of the workload",
        )
    if action is run_provider_tests:
        command.add_argument(
            "--program", help="one test program; by default all that were built here"
        )
        command.add_argument("arguments", nargs="*", help="arguments for GoogleTest, after --")


def _add_own_steps(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--step",
        metavar="FILE",
        type=os.path.abspath,
        action="append",
        default=[],
        help="in a client: a script of sh, run on the mounted export; may be given several times",
    )
    command.add_argument(
        "--programs",
        metavar="DIR",
        type=os.path.abspath,
        help="a directory that the scripts find as $programs, and in PATH",
    )
    command.add_argument(
        "--limit",
        metavar="SECONDS",
        type=number(own_steps.LARGEST_LIMIT_S),
        default=own_steps.LIMIT_S,
        help="how long a script may take until it counts as a hang; %(default)s by default",
    )


def _add_faults(command: argparse.ArgumentParser) -> None:
    def convert(text: str) -> Faults:
        try:
            return Faults.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error))

    command.add_argument(
        "--faults",
        metavar="LOSS:DUPLICATE:REORDER",
        type=convert,
        default=Faults(),
        help=f"percent of the packets that a network with faults drops, doubles and reorders; {Faults()} by default",
    )


def _add_power(command: argparse.ArgumentParser) -> None:
    command.add_argument("--program", help="the server; by default the one built")
    counts = (("--cuts", loss.CUTS), ("--calls", loss.CALLS), ("--seed", loss.SEED))
    for name, usual in counts:
        command.add_argument(
            name,
            type=number(loss.MOST_CUTS),
            default=usual,
            help="%(default)s by default",
        )
    command.add_argument(
        "--skip-sync",
        choices=loss.SKIPPED,
        help="the machine does not force these to the disk when the server asks: losses have to be found",
    )


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    os.chdir(PROJECT)
    session.catch_signals()
    try:
        if options.action in OF_THE_DISK:
            return options.action(options)
        if options.action is compare and len(options.target) != 1:
            loaded = [targets.load(name) for name in options.target or targets.names()]
            chosen = [target for target in loaded if target.gated or options.target]
            return compare_several(chosen, options)
        names = options.target or capture.TARGETS  # only `capture` and `gate` take none
        chosen = [targets.load(name) for name in names]
        for target in chosen:
            if options.action not in ACTIONS_OF_ROLE[target.role]:
                raise LabFailure(f"{target.name} is no machine for that: its role is {target.role}")
        if options.action is record:
            return record_several(chosen, options)
        return options.action(*chosen, options)
    except LabFailure as failure:
        host.say(f"error: {failure}")
        return EXIT_LAB_FAILURE
    except session.Interrupted as interrupted:
        host.say(f"{interrupted}")
        return EXIT_SIGNAL_BASE + interrupted.number
