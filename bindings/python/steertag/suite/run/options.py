"""The suite's options of pytest, checked once, with one sentence for each mistake."""

import dataclasses
import fcntl
import os
import pathlib

import pytest

from ... import build_paths
from ...baseline import Baseline, BaselineError
from ...baseline import load as load_baseline
from ...case_list import selection_options
from ..cases.transport import ANY, RDMA, TCP, transport_of
from ..nfs_client.mount import path_of
from .profile import BadProfile, Profile, load

# Exit status of a run in which nothing failed, but --require-complete misses a case. pytest's own
# end at 5.
INCOMPLETE = 6
DEFAULT_LISTEN = "iwarp://127.0.0.1:0"
# A use of the client that takes longer hangs. Our own client times out much earlier.
DEFAULT_CLIENT_TIMEOUT_S = 20.0
LONGEST_CLIENT_TIMEOUT_S = 3600.0
LARGEST_PORT = 65535
CLIENT_VERSIONS = ("4.1", "3")
# Whose captures a run keeps.
FAILING, ALL = "failures", "all"


@dataclasses.dataclass(frozen=True)
class Options:
    """The checked options of a run. `target` is None for the bundled server."""

    target: str | None
    profile: Profile
    report: pathlib.Path
    allow_destructive: bool
    strict: bool
    server: pathlib.Path
    server_arguments: tuple
    listen: str  # URL of the bundled server over RDMA
    over: str  # Transport of the tests of the bundled server.
    baseline: Baseline | None = None  # Expected outcomes of the target's cases.
    seed: int = 0  # Seed of property-based trials.
    run_seed: int = 0  # Seed of the XIDs.
    listen_urls: tuple = (DEFAULT_LISTEN,)  # URLs of the suite's server for clients.
    client_command: str = ""  # Empty for our own client.
    client_timeout_s: float = DEFAULT_CLIENT_TIMEOUT_S
    pnfs_host: str = ""
    pnfs_over: str = RDMA  # Transport of our data servers.
    client_nfs: str = CLIENT_VERSIONS[0]  # Of our own client.
    client_deviations: tuple = ()
    captures: str = FAILING
    try_tcp: bool = True  # Whether the NFS port of the target's host is tried over TCP.
    require_complete: bool = False  # A case that is not-testable fails the run.


def add_options(parser):
    """Declares the options; called by the plugin's pytest_addoption."""
    add = parser.getgroup("steertag", "Steertag").addoption
    _add_options_of_servers(add)
    _add_options_of_clients(add)
    _add_options_of_both(add)


def _add_options_of_servers(add):
    add(
        "--target",
        metavar="URL",
        help="target under test, provider://host[:port][/export] (tcp:// is plain TCP); default: "
        "the bundled server",
    )
    add(
        "--tcp",
        metavar="URL",
        help="the same target over TCP, tcp://host[:port]; default: `tcp:` of the profile, or port "
        "2049 of the target's host if NFS answers there",
    )
    add(
        "--no-tcp",
        action="store_true",
        help="do not try port 2049 of the target's host",
    )
    add(
        "--mount-port",
        metavar="PORT",
        type=int,
        help="port of MOUNT over TCP on the target's host; default: `mount:` of the profile, or the "
        "target's own port and transport",
    )
    add(
        "--over",
        choices=ANY,
        help="transport to the bundled server (default rdma)",
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


def _add_options_of_clients(add):
    add(
        "--client-command",
        metavar="COMMAND",
        help="client under test, a shell command that reads the file `source` of the export at {url} "
        "({host}, {port}) and writes its octets into a file `copy` beside it; {transfer} is how the case "
        "wants the data; default: our own client",
    )
    add(
        "--client-timeout",
        metavar="SECONDS",
        type=float,
        default=DEFAULT_CLIENT_TIMEOUT_S,
        help="a longer use of the client is a hang (default %(default)s); above the client's own time-outs",
    )
    add(
        "--pnfs-host",
        metavar="HOST",
        default="",
        help="name or address by which the client reaches our data servers, if it is not that of --listen",
    )
    add(
        "--pnfs-over",
        choices=(RDMA, TCP),
        default=RDMA,
        help="transport of our data servers (default %(default)s); over tcp the cases that look at connections "
        "or RDMA messages of data servers are not-testable",
    )
    add(
        "--client-nfs",
        type=lambda text: text.removeprefix("v"),  # "v3" is another spelling of "3"
        choices=CLIENT_VERSIONS,
        help=f"NFS version of our own client (default {CLIENT_VERSIONS[0]})",
    )
    add(
        "--client-deviate",
        metavar="NAME",
        action="append",
        default=[],
        help="start our own client with this deviation; may be repeated",
    )


def _add_options_of_both(add):
    add("--profile", metavar="FILE", help="YAML file with the declarations of the target")
    add(
        "--report",
        metavar="DIR",
        help="where index.html, report.json, junit.xml, captures/, failures/ and texts/ go "
        f"(default {build_paths.REPORT})",
    )
    add(
        "--captures",
        choices=(FAILING, ALL),
        default=FAILING,
        help="whose captures are kept: of cases that fail or warn, without the many of one cause "
        "and those better than the baseline (default), since others have nothing to look for and take most of the space; or of all",
    )
    add(
        "--case",
        metavar="ID",
        action="append",
        default=[],
        help="run the case with this id of a report; may be repeated",
    )
    selection_options.add_options(add)
    add(
        "--require-complete",
        action="store_true",
        help=f"a case that is not-testable fails the run, with exit status {INCOMPLETE}",
    )
    add(
        "--allow-destructive",
        action="store_true",
        help="also run destructive cases against a third party",
    )
    add(
        "--strict-verdicts",
        action="store_true",
        help="a case with the verdict warn fails the run too",
    )
    add(
        "--baseline",
        metavar="FILE",
        help="expected outcomes of the target: the run fails on differences only (`steertag baseline "
        "update` makes such a file)",
    )
    add(
        "--listen",
        metavar="URL",
        action="append",
        default=[],
        help="RDMA address of the bundled server, or of the suite's server for clients "
        f"(default {DEFAULT_LISTEN}, any free port); for clients, also a tcp:// URL for MOUNT, or one alone for "
        "the cases on NFS with layouts",
    )
    add(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        help="seed of the inputs of cases that draw them (server.property.*, client.chunks.parts-*)",
    )
    add(
        "--run-seed",
        metavar="N",
        type=int,
        help="repeat the XIDs of the run that printed this number; default: new ones in every run",
    )


def read_options(config):
    """The checked Options of this run; raises pytest.UsageError with one sentence."""
    get = config.getoption
    for name in ("--target", "--tcp", "--profile", "--report", "--baseline", "--client-command"):
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
            raise pytest.UsageError(f"{name} is for the bundled server; a target has it in its URL")
    if target:
        check_url("--target", target)
    if get("--tcp"):
        profile = dataclasses.replace(profile, tcp=_tcp_url(get("--tcp"), target))
    if get("--mount-port") is not None:
        profile = dataclasses.replace(profile, mount=_mount_at(get("--mount-port"), target))
    _check_export(profile, target)
    listen = _listen_urls(get)
    _check_client_options(get)
    report = pathlib.Path(get("--report") or config.rootpath / build_paths.REPORT)
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
        listen=listen[0],
        over=get("--over") or RDMA,
        baseline=_baseline(get("--baseline"), profile.name),
        seed=get("--seed"),
        run_seed=get("--run-seed"),
        listen_urls=listen,
        client_command=get("--client-command") or "",
        client_timeout_s=get("--client-timeout"),
        pnfs_host=get("--pnfs-host"),
        pnfs_over=get("--pnfs-over"),
        client_nfs=get("--client-nfs") or CLIENT_VERSIONS[0],
        client_deviations=tuple(get("--client-deviate")),
        captures=get("--captures"),
        try_tcp=not get("--no-tcp"),
        require_complete=get("--require-complete"),
    )


def _tcp_url(url, target):
    """The checked URL of --tcp. Raises pytest.UsageError."""
    if not target:
        raise pytest.UsageError("--tcp is for --target; the bundled server listens over TCP anyway")
    if transport_of(check_url("--tcp", url)) != TCP:
        raise pytest.UsageError(f"--tcp {url}: it must be a URL tcp://host[:port]")
    return url


def _mount_at(port, target):
    """The `mount` key of a profile for a port of the target's host. Raises pytest.UsageError."""
    if not target:
        raise pytest.UsageError("--mount-port is for --target")
    if not 0 < port <= LARGEST_PORT:
        raise pytest.UsageError(f"--mount-port is a number from 1 to {LARGEST_PORT}")
    host = check_url("--target", target).host
    return {"transport": "tcp", "host": host, "port": port}


def _check_export(profile, target):
    """One export is tested: that of the URL. Raises pytest.UsageError."""
    path = path_of(target or "")
    if path and profile.export and path.rstrip("/") != profile.export.rstrip("/"):
        raise pytest.UsageError(
            f"the target's URL names {path}, and `export:` of the profile {profile.export}: leave one out"
        )


def _baseline(path, name):
    """The Baseline of the target `name`, or None without a path."""
    if not path:
        return None
    try:
        return load_baseline(path, name)
    except BaselineError as error:
        raise pytest.UsageError(str(error)) from None


def _listen_urls(get):
    """The URLs to listen on: RDMA first; only a client may need one over TCP too. One over TCP alone is for cases
    for clients, see check_roles."""
    listen = tuple(get("--listen")) or (DEFAULT_LISTEN,)
    transports = [transport_of(check_url("--listen", url)) for url in listen]
    if transports[0] == TCP and RDMA in transports:
        raise pytest.UsageError("--listen with a URL over RDMA comes before those over TCP")
    if len(listen) > 1 and not get("--client-command"):
        raise pytest.UsageError(
            "--listen is given more than once: only a client command needs that"
        )
    return listen


def _check_client_options(get):
    if get("--client-command"):
        for name in ("--client-nfs", "--client-deviate"):
            if get(name):
                raise pytest.UsageError(f"{name} is for our own client, not for --client-command")
    if not 0 < get("--client-timeout") <= LONGEST_CLIENT_TIMEOUT_S:
        raise pytest.UsageError(
            f"--client-timeout is above 0 and at most {LONGEST_CLIENT_TIMEOUT_S:.0f} seconds"
        )


# Options that mean nothing without cases of a role.
_OF_ROLE = {
    "server": ("--deviate", "--server-arg", "--over", "--target", "--tcp", "--mount-port"),
    "client": ("--client-deviate", "--client-command", "--client-nfs"),
}


def check_roles(get, roles):
    """Raises pytest.UsageError for an option that no case of these roles uses, or that some cannot use."""
    for role, names in _OF_ROLE.items():
        for name in names:
            if roles and role not in roles and get(name):
                raise pytest.UsageError(f"{name} is for cases for {role}s, and this run has none")
    first = next(iter(get("--listen")), DEFAULT_LISTEN)
    if "server" in roles and transport_of(check_url("--listen", first)) == TCP:
        raise pytest.UsageError("--listen is for RDMA; the bundled server listens over TCP anyway")


def check_url(option, url):
    """The parsed URL. Raises pytest.UsageError with one sentence, also without a provider for
    it."""
    from ... import fabric

    try:
        parsed = fabric.parse_url(url)
        if transport_of(parsed) == RDMA:
            fabric.Provider(parsed.provider)
        return parsed
    except (fabric.FabricError, TypeError, UnicodeError) as error:
        raise pytest.UsageError(f"{option} {url}: {error}") from None


def make_report_directory(path):
    """Creates the report directory. Raises pytest.UsageError if it is not writable."""
    try:
        (path / "captures").mkdir(parents=True, exist_ok=True)
        probe = path / f".writable.{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise pytest.UsageError(
            f"report directory {path}: {error.strerror}; name another one with --report DIR"
        ) from None


def lock_report_directory(path):
    """An open file that locks the report directory while it lives; None if another run holds the
    lock."""
    lock = open(path / ".lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return None
    return lock
