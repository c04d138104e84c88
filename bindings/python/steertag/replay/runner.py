"""Runs recordings against one target, as the suite runs cases: with probes, restart, and one verdict."""

import contextlib
import dataclasses
import os
import pathlib
import re
import tempfile

import pytest

from .. import build_paths
from ..failure import Failure
from ..suite.cases.case import restored
from ..suite.run.execution import execute
from ..suite.run.options import check_url, DEFAULT_LISTEN, make_report_directory, Options
from ..suite.run.profile import BadProfile, load, Profile
from ..suite.run.server_session import ServerSession, Unreachable
from .player import LONGEST_WAIT_MS, Player

# Arguments of the bundled server that cases ask for.
_HARMLESS = re.compile(r"--no-crc|--inline-bytes=\d+")


class Runner:
    """Plays recordings against one target; `options` are suite.options.Options."""

    def __init__(self, options, name="replay"):
        make_report_directory(options.report)
        self._session = ServerSession(options, name)

    @property
    def is_started_here(self):
        """Whether another Runner of the same options has a target without a past."""
        return self._session.options.target is None

    @property
    def lost(self):
        """Why nothing more can be run; "" if it can."""
        return self._session.lost

    def run(self, recording, longest_wait_ms=LONGEST_WAIT_MS):
        """The report.Record of one run; raises Failure if the target cannot be reached."""
        case = restored(recording.case)
        session = self._session
        try:
            session.prepare(case, case.id)
        except Unreachable as error:
            if error.record is not None:
                return error.record
            raise Failure(str(error)) from None
        return execute(session, lambda: Player(recording, session.bench(), longest_wait_ms).play())

    def recording(self):
        """The Recording of the last run."""
        return self._session.recording_of(self._session.run)

    def close(self):
        self._session.close()


@contextlib.contextmanager
def runner_for(target, url=None, profile=None):
    """A Runner for the target of a recording, or for `url`, with the profile in the file `profile`."""
    with tempfile.TemporaryDirectory(prefix="steertag-") as folder:
        made = Runner(_options(target, url, profile, pathlib.Path(folder)))
        try:
            yield made
        finally:
            made.close()


@contextlib.contextmanager
def reference_runner(target):
    """A Runner for a bundled server without deviations, reached as the recording's target was."""
    with tempfile.TemporaryDirectory(prefix="steertag-") as folder:
        path = pathlib.Path(folder)
        made = Runner(_bundled((), target.over, DEFAULT_LISTEN, Profile(), path), "reference")
        try:
            yield made
        finally:
            made.close()


def _options(target, url, profile, report):
    declared = target.profile
    try:
        if profile is not None:
            declared = load(profile)
        elif url is not None and url != target.url:
            # The rest of the profile is about another server.
            declared = Profile(uid=declared.uid, gid=declared.gid)
    except BadProfile as error:
        raise Failure(str(error)) from None
    if profile is None:
        # A file that comes from elsewhere runs no command here.
        declared = dataclasses.replace(declared, died=[], restart=[], console="")
    wanted = url or declared.url or target.url
    if not wanted:
        _check(target.arguments)
        return _bundled(target.arguments, target.over, target.listen, declared, report)
    try:
        check_url("target", wanted)
    except pytest.UsageError as error:
        raise Failure(str(error)) from None
    return _with(wanted, (), "rdma", DEFAULT_LISTEN, declared, report)


def _check(arguments):
    """A recording may ask the server that is started here for deviations, and for what cases ask for. It must not export a
    directory, say."""
    words = iter(arguments)
    for word in words:
        if word == "--deviate" and next(words, None) is not None or _HARMLESS.fullmatch(word):
            continue
        line = " ".join(arguments)
        raise Failure(f"recorded with steertag serve {line}: start it and give --target URL")


def _bundled(arguments, over, listen, profile, report):
    return _with(None, arguments, over, listen, profile, report)


def _with(url, arguments, over, listen, profile, report):
    program = os.environ.get("STEERTAG_SERVE") or build_paths.tool("steertag-serve")
    return Options(
        target=url,
        profile=profile,
        report=report,
        allow_destructive=True,  # whoever plays it wants it played
        strict=False,
        server=pathlib.Path(program),
        server_arguments=tuple(arguments),
        listen=listen or DEFAULT_LISTEN,
        over=over,
        try_tcp=False,  # a case that used TCP has recorded where
    )
