"""Sessions of the suite in the test's own process, without pytest."""

from steertag import build_paths
from steertag.suite.run.options import DEFAULT_LISTEN, make_report_directory, Options
from steertag.suite.run.profile import Profile
from steertag.suite.run.server_session import CONTACT, ServerSession


def options_of(folder, **changed):
    """The Options of a run with the report in this folder."""
    usual = {
        "target": None,
        "profile": Profile(),
        "report": folder,
        "allow_destructive": False,
        "strict": False,
        "server": build_paths.tool("steertag-serve"),
        "server_arguments": (),
        "listen": DEFAULT_LISTEN,
        "over": "rdma",
        "try_tcp": False,
    }
    make_report_directory(folder)
    return Options(**{**usual, **changed})


def look_over(folder, target, **changed):
    """The session that has met this server, and looked it over. Raises Unreachable."""
    session = ServerSession(options_of(folder, target=target, **changed), "main")
    session.first_contact()
    session.look_over()
    return session


def bench_of(session):
    """The bench of a case against the server that the session has met."""
    session.prepare(CONTACT, CONTACT.id)
    return session.bench()
