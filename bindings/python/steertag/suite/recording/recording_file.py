"""The file of a recording: one failed case with everything that a replay needs.

A case for servers has its steps, and a replay needs no code of the case. A case for clients answers its
client, so a replay runs the case by its id.

A zip with `recording.json`, octets as {"hex": "..."}, and `capture.pcapng` where there is one."""

import dataclasses
import json
import lzma
import os
import pathlib
import struct
import zipfile
import zlib

from ... import __version__
from ...verdict import Verdict
from ..cases.case import restored
from ..cases.transport import RDMA, TCP
from ..run.profile import BadProfile, Profile, parse
from .step import MOST_OCTETS, MOST_STEPS, Step

FORMAT = 2
SUFFIX = ".steertag"
# Sides that can be under test.
SERVER, CLIENT = "server", "client"
# Octets of a file's parts when unpacked: twice what a recorder keeps, as hex.
LARGEST_DOCUMENT = 256 << 20
_DOCUMENT, _CAPTURE = "recording.json", "capture.pcapng"
# What zipfile raises of files that are none, of one that is cut, or encrypted.
_NO_ZIP = (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError)
_NO_ZIP += (zlib.error, lzma.LZMAError, struct.error)
_WHEN = (1980, 1, 1, 0, 0, 0)  # the same run gives the same file


class BadRecording(Exception):
    """A file that cannot be used; the text is one sentence."""


@dataclasses.dataclass(frozen=True)
class TargetOf:
    """How the target of the recording was reached: a URL, or the bundled server's arguments."""

    url: str = ""
    arguments: tuple = ()
    over: str = "rdma"
    listen: str = ""
    profile: Profile = dataclasses.field(default_factory=Profile)


@dataclasses.dataclass(frozen=True)
class ClientOf:
    """How the client of the recording was run: its command, or the deviations of our own client."""

    command: str = ""
    nfs: str = ""
    deviations: tuple = ()
    listen: tuple = ()
    timeout_s: float = 0.0
    seed: int = 0
    profile: Profile = dataclasses.field(default_factory=Profile)


@dataclasses.dataclass(frozen=True)
class Recording:
    """A failed case. `case` holds the fields of case.Case; `gap` says why it cannot be repeated."""

    case: dict
    target: TargetOf | ClientOf
    verdict: str
    reason: str
    detail: str
    findings: list
    steps: list
    gap: str = ""
    capture: bytes = b""

    @property
    def tests(self):
        """The side under test."""
        return CLIENT if isinstance(self.target, ClientOf) else SERVER


def write(path, recording):
    """The file appears whole under its name or not at all; raises OSError."""
    part = path.with_name(f"{path.name}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            _add(archive, _DOCUMENT, _text_of(recording))
            if recording.capture:
                _add(archive, _CAPTURE, recording.capture)
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _add(archive, name, content):
    """A ZipInfo alone would have its file stored as it is."""
    archive.writestr(zipfile.ZipInfo(name, _WHEN), content, compress_type=zipfile.ZIP_DEFLATED)


def _text_of(recording):
    document = {"steertag": __version__, "format": FORMAT, "tests": recording.tests}
    document |= {name: value for name, value in vars(recording).items() if name != "capture"}
    document["target"] = dataclasses.asdict(recording.target)
    document["steps"] = [vars(step) for step in recording.steps]
    return json.dumps(document, indent=1, default=_octets)


def _octets(value):
    """JSON's form of what it has no type for."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    raise TypeError(type(value).__name__)


def read(path):
    """The Recording in a file; raises BadRecording with one sentence."""
    if pathlib.Path(path).exists() and not pathlib.Path(path).is_file():
        raise BadRecording(f"{path}: not a file")
    try:
        return _read(path)
    except OSError as error:
        raise BadRecording(f"{path}: {error.strerror}") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError, BadProfile):
        raise BadRecording(f"{path}: a recording of Steertag whose content is damaged") from None
    except _NO_ZIP:
        raise BadRecording(f"{path}: not a recording of Steertag, or only a part of one") from None


def _read(path):
    with zipfile.ZipFile(path) as archive:
        if _DOCUMENT not in archive.namelist():
            raise BadRecording(f"{path}: a zip file, but not a recording of Steertag")
        document = json.loads(_part(path, archive, _DOCUMENT), object_hook=_restored)
        if not isinstance(document, dict) or "format" not in document:
            raise ValueError
        if document["format"] != FORMAT:
            made_by = f"Steertag {document.get('steertag', '?')} wrote format {document['format']}"
            raise BadRecording(f"{path}: {made_by}, this is {__version__} with format {FORMAT}")
        capture = _part(path, archive, _CAPTURE) if _CAPTURE in archive.namelist() else b""
    return _checked(document, capture)


def _part(path, archive, name):
    if archive.getinfo(name).file_size > LARGEST_DOCUMENT:
        raise BadRecording(f"{path}: {name} is larger than {LARGEST_DOCUMENT >> 20} MiB")
    return archive.read(name)


def _restored(value):
    return bytes.fromhex(value["hex"]) if list(value) == ["hex"] else value


def _checked(document, capture):
    """The Recording, its outer types checked: what is wrong inside of a step shows when it is done."""
    target = {SERVER: _server, CLIENT: _client}[document["tests"]](dict(document["target"]))
    steps = [Step(**step) for step in document["steps"]]
    if len(steps) > MOST_STEPS:
        raise ValueError
    for step in steps:
        shape = type(step.number), type(step.kind), type(step.subject), type(step.fields)
        if shape != (int, str, str, dict):
            raise ValueError
    named = {name: document[name] for name in ("verdict", "reason", "detail", "gap")}
    if not all(isinstance(value, str) for value in named.values()):
        raise ValueError
    Verdict(named["verdict"])
    fields = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in document["case"].items()
    }
    restored(fields)
    return Recording(
        case=fields,
        target=target,
        findings=list(document["findings"]),
        steps=steps,
        capture=capture,
        **named,
    )


def _server(target):
    if not all(isinstance(target[name], str) for name in ("url", "over", "listen")):
        raise ValueError
    if target["over"] not in (RDMA, TCP):
        raise ValueError
    target["profile"] = parse(target["profile"])
    target["arguments"] = tuple(str(word) for word in target["arguments"])
    return TargetOf(**target)


def _client(target):
    if not all(isinstance(target[name], str) for name in ("command", "nfs")):
        raise ValueError
    for name in ("deviations", "listen"):
        target[name] = tuple(str(word) for word in target[name])
    target["timeout_s"] = float(target["timeout_s"])
    target["seed"] = int(target.get("seed", 0))
    target["profile"] = parse(target["profile"])
    return ClientOf(**target)
