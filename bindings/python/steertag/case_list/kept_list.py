"""The list of all cases, kept in a file beside the digest of the sources that it was collected from.

pytest takes some seconds for a collection. The kept list answers as long as the digest is the same, and never
else: there is no time or version to trust."""

import dataclasses
import json
import os
import pathlib

from .. import build_paths, progress, suites_place
from ..atomic_file import write_atomically
from ..failure import Failure
from .case_entry import restored
from .source_digest import source_digest

NAME = "cases.json"


def case_list(paths=()):
    """The CaseEntry list of the cases below the paths, or of both suites, sorted by id. Only that of both
    suites is kept: other cases may import anything. Raises Failure."""
    try:
        if paths:
            return _collected(paths)
        folders = suites_place.folders()
    except suites_place.NoSuites as error:
        raise Failure(str(error)) from None
    digest = source_digest(folders)
    kept = _read(digest)
    if kept is None:
        kept = _collected(folders)
        # A file that changed meanwhile may have been read before or after.
        if source_digest(folders) == digest:
            _write(digest, kept)
    return kept


def kept_cases():
    """The kept CaseEntry list of both suites, at once; [] if there is none or a source has changed."""
    try:
        return _read(source_digest(suites_place.folders())) or []
    except suites_place.NoSuites:
        return []


def place():
    """The path of the file: below `build` of the checkout, or in the user's cache (XDG)."""
    checkout = build_paths.checkout()
    if checkout is not None:
        return checkout / "build" / NAME
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "steertag" / NAME


def _collected(paths):
    from ..suite.cases.collection import CannotCollect, collect_apart

    try:
        with progress.note("collecting the cases: about 3 s, once after a change"):
            return collect_apart(paths)
    except CannotCollect as error:
        raise Failure(str(error)) from None


def _read(digest):
    """The kept list of this digest, or None."""
    try:
        document = json.loads(place().read_bytes())
        if document["digest"] != digest:
            return None
        return [restored(each) for each in document["cases"]]
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        return None


def _write(digest, entries):
    """Keeps the list if there is a place for it."""
    document = {"digest": digest, "cases": [dataclasses.asdict(each) for each in entries]}
    try:
        place().parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place(), json.dumps(document))
    except (OSError, RuntimeError):  # no right to write, or no home
        pass
