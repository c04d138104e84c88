"""The suite's options of pytest, checked once, with one sentence for each mistake."""

import dataclasses
import fcntl
import os
import pathlib

import pytest

from .. import build_paths
from ..baseline import Baseline, BaselineError
from ..baseline import load as load_baseline
from .profile import BadProfile, Profile, load
from .transport import ANY, RDMA, TCP, transport_of

DEFAULT_REPORT = "build/report"
DEFAULT_LISTEN = "iwarp://127.0.0.1:0"


@dataclasses.dataclass(frozen=True)
class Options:
    """What a run was asked for. `target` is None for the bundled server."""

    target: str | None
    profile: Profile
    report: pathlib.Path
    allow_destructive: bool
    strict: bool
    server: pathlib.Path
    server_arguments: tuple
    listen: str  # where the bundled server listens over RDMA
    over: str  # the transport by which the bundled server is tested
    baseline: Baseline | None = None  # what is expected of the target's cases
    seed: int = 0  # of the trials of property-based cases


def add_options(parser):
    """Declares the options; called by the plugin's pytest_addoption."""
    group = parser.getgroup("steertag", "Steertag")
    add = group.addoption
    add(
        "--target",
        metavar="URL",
        help="target under test, provider://host[:port][/export] (tcp:// is plain TCP); without it "
        "the bundled server",
    )
    add("--profile", metavar="FILE", help="YAML file with what the target declares about itself")
    add(
        "--report",
        metavar="DIR",
        help=f"where report.json, junit.xml and captures/ go (default {DEFAULT_REPORT})",
    )
    add(
        "--case",
        metavar="ID",
        action="append",
        default=[],
        help="run the case with this id, as reports name it; may be repeated",
    )
    add(
        "--allow-destructive",
        action="store_true",
        help="run destructive cases against a third party too",
    )
    add(
        "--strict-verdicts",
        action="store_true",
        help="a case with the verdict warn fails the run too",
    )
    add(
        "--baseline",
        metavar="FILE",
        help="what the target is known for: the run fails on whatever differs from it, and on "
        "nothing else (`steertag baseline update` makes such a file)",
    )
    add(
        "--over",
        choices=ANY,
        help="the transport by which the bundled server is tested (default rdma)",
    )
    add(
        "--listen",
        metavar="URL",
        help=f"where the bundled server listens over RDMA (default {DEFAULT_LISTEN}, any free port)",
    )
    add(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        help="another number lets property-based cases (server.property.*) try other things",
    )
    add(
        "--server-arg",
        metavar="ARG",
        action="append",
        default=[],
        help="extra argument for the bundled server; may be repeated",
    )
    add(
        "--deviate",
        metavar="NAME",
        action="append",
        default=[],
        help="start the bundled server with this deviation; may be repeated",
    )


def read_options(config):
    """The checked Options of this run; raises pytest.UsageError with one sentence."""
    get = config.getoption
    for name in ("--target", "--profile", "--report", "--baseline"):
        if get(name) == "":
            raise pytest.UsageError(f"{name} is empty: an unset variable?")
    profile = Profile()
    if get("--profile"):
        try:
            profile = load(get("--profile"))
        except BadProfile as error:
            raise pytest.UsageError(str(error)) from None
    target = get("--target") or profile.url or None
    arguments = list(get("--server-arg"))
    for name in get("--deviate"):
        arguments += ["--deviate", name]
    if target and arguments:
        raise pytest.UsageError(
            "--server-arg and --deviate are for the bundled server, not for --target"
        )
    for name in ("--over", "--listen"):
        if target and get(name):
            raise pytest.UsageError(
                f"{name} is for the bundled server; the URL of a target says it"
            )
    if target:
        check_url("--target", target)
    listen = get("--listen") or DEFAULT_LISTEN
    if transport_of(check_url("--listen", listen)) == TCP:
        raise pytest.UsageError("--listen is for RDMA; the bundled server listens over TCP anyway")
    report = pathlib.Path(get("--report") or config.rootpath / DEFAULT_REPORT)
    if not report.is_absolute():
        report = config.invocation_params.dir / report
    server = os.environ.get("STEERTAG_SERVE") or build_paths.tool("steertag-serve")
    return Options(
        target=target,
        profile=profile,
        report=report,
        allow_destructive=get("--allow-destructive"),
        strict=get("--strict-verdicts"),
        server=pathlib.Path(server),
        server_arguments=tuple(arguments),
        listen=listen,
        over=get("--over") or RDMA,
        baseline=_baseline(get("--baseline"), profile.name),
        seed=get("--seed"),
    )


def _baseline(path, name):
    """The Baseline of the target with this name, or None without a path."""
    if not path:
        return None
    try:
        return load_baseline(path, name)
    except BaselineError as error:
        raise pytest.UsageError(str(error)) from None


def check_url(option, url):
    """The parsed URL, if there is a provider for it; raises pytest.UsageError with one sentence."""
    from .. import fabric

    try:
        parsed = fabric.parse_url(url)
        if transport_of(parsed) == RDMA:
            fabric.Provider(parsed.provider)
        return parsed
    except (fabric.FabricError, TypeError, UnicodeError) as error:
        raise pytest.UsageError(f"{option} {url}: {error}") from None


def make_report_directory(path):
    """Creates the report directory; raises pytest.UsageError if it cannot be written to."""
    try:
        (path / "captures").mkdir(parents=True, exist_ok=True)
        probe = path / f".writable.{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise pytest.UsageError(f"report directory {path}: {error.strerror}") from None


def lock_report_directory(path):
    """The open file that keeps other runs out of the report directory as long as it lives; None if
    another run is in it."""
    lock = open(path / ".lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock
