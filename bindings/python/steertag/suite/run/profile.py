"""The profile of a target: a small YAML file that declares what no probe finds.

    name: linux-6.1-siw
    url: iwarp://127.0.0.1:20049/export      # --target overrides it
    tcp: tcp://127.0.0.1:2049                # the same server over TCP, for comparison
    export: /export                          # the path to mount, if the URL has none
    mount: {transport: tcp, host: 127.0.0.1, port: 20048}    # or {transport: rdma}, the default,
                                             # or {handle: "0100..."}: the root's file handle in hex
    supports: {multiple-read-chunks: false}  # what it lacks: words of suite/cases/needs.py
    uid: 0                                   # AUTH_SYS identity of the suite's calls
    gid: 0
    destructive: false                       # true: destructive cases may run, the target is expendable
    translated: true                         # address translation on the way gives us other ports
    software: linux-image-6.1.0-41-amd64     # version, for the report
    console: build/lab/x/console.log         # a log of the target that crash verdicts quote
    died: [test, -e, /run/x/died]            # succeeds if a silent target is dead: crash, not hang
    restart: [ci/lab, restart, linux-6.1-siw]    # restarts a dead target at the same URL; the cases
                                             # after a crash still run, and cases that restart it
    administrator:                           # what no client can ask for, and the command for it
      recall-layouts: [ssh, mds, recall-all]     # recall all layouts, of clients or of the file system
      replace-device: [ssh, mds, new-device]     # recall them, and give later ones another device
      move-data-server: [ssh, ds, new-port]      # have a data server go on at another address

docs/guide/server.md explains the keys to users."""

import dataclasses

from ... import fabric, yaml_text
from ..cases.needs import TARGET_NEEDS
from ..cases.transport import TCP, transport_of

# A profile is a page of text; a larger file is a wrong file.
LARGEST_PROFILE = 1 << 20
LARGEST_ID = 0xFFFFFFFF  # of AUTH_SYS
LARGEST_HANDLE = 64  # of NFSv3
# What an administrator can be asked for: administrator.py.
ADMINISTRATION = ("recall-layouts", "replace-device", "move-data-server")
_MOUNT_KEYS = {"transport", "host", "port", "handle"}


class BadProfile(Exception):
    """A profile that cannot be used; the text is one sentence."""


@dataclasses.dataclass(frozen=True)
class Profile:
    """A validated profile; the defaults are those of a target without a profile."""

    name: str = ""
    url: str = ""
    tcp: str = ""
    export: str = ""
    mount: dict = dataclasses.field(default_factory=lambda: {"transport": "rdma"})
    supports: dict = dataclasses.field(default_factory=dict)
    uid: int = 0
    gid: int = 0
    destructive: bool = False
    translated: bool = False
    software: str = ""
    console: str = ""
    died: list = dataclasses.field(default_factory=list)
    restart: list = dataclasses.field(default_factory=list)
    administrator: dict = dataclasses.field(default_factory=dict)


def load(path):
    """The profile in the file `path`; raises BadProfile with one sentence."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(LARGEST_PROFILE + 1)
        if len(text) > LARGEST_PROFILE:
            raise BadProfile(f"profile {path}: larger than {LARGEST_PROFILE} octets")
        content = yaml_text.decode(text)
    except OSError as error:
        raise BadProfile(f"profile {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadProfile(f"profile {path}: not UTF-8 text") from None
    except yaml_text.NotYaml as error:
        raise BadProfile(f"profile {error.at(path)}: {error}") from None
    try:
        return parse(content)
    except BadProfile as error:
        raise BadProfile(f"profile {path}: {error}") from None


def parse(content):
    """A Profile from the decoded YAML; raises BadProfile naming the key."""
    if not isinstance(content, dict):
        raise BadProfile("expected a mapping of keys")
    types = {field.name: field.type for field in dataclasses.fields(Profile)}
    for key, value in content.items():
        if key not in types:
            raise BadProfile(f"unknown key {key!r}; known: {', '.join(types)}")
        if type(value) is not types[key]:
            raise BadProfile(f"{key} must be of type {types[key].__name__}")
        if isinstance(value, str) and not _is_text(value):
            raise BadProfile(f"{key} has characters that no file name or address has")
    for key in ("uid", "gid"):
        if not 0 <= content.get(key, 0) <= LARGEST_ID:
            raise BadProfile(f"{key} must be a number from 0 to {LARGEST_ID}")
    _check_tcp(content.get("tcp", ""))
    _check_supports(content.get("supports", {}))
    _check_mount(content.get("mount", {"transport": "rdma"}))
    for key in ("died", "restart"):
        _check_command(key, content.get(key, []))
    _check_administrator(content.get("administrator", {}))
    return Profile(**content)


def _check_command(name, words):
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadProfile(f"{name} must be a list of strings: a program and its arguments")


def _check_administrator(commands):
    for what, command in commands.items():
        if what not in ADMINISTRATION:
            known = ", ".join(ADMINISTRATION)
            raise BadProfile(f"administrator: unknown key {what!r}; known: {known}")
        _check_command(f"administrator: {what}", command)


def _check_tcp(url):
    if not url:
        return
    try:
        parsed = fabric.parse_url(url)
    except fabric.FabricError as error:
        raise BadProfile(f"tcp: {error}") from None
    if transport_of(parsed) != TCP:
        raise BadProfile("tcp must be a URL tcp://host[:port]")


def _check_supports(supports):
    for need, value in supports.items():
        if need not in TARGET_NEEDS:
            known = ", ".join(TARGET_NEEDS)
            raise BadProfile(f"supports: unknown need {need!r}; known: {known}")
        if not isinstance(value, bool):
            raise BadProfile(f"supports: {need} must be true or false")


def _check_mount(mount):
    for key in mount:
        if key not in _MOUNT_KEYS:
            raise BadProfile(f"mount: unknown key {key!r}; known: {', '.join(sorted(_MOUNT_KEYS))}")
    if "handle" in mount:
        try:
            handle = bytes.fromhex(mount["handle"])
        except (TypeError, ValueError):
            raise BadProfile("mount: handle must be a string of hex digits") from None
        if not 0 < len(handle) <= LARGEST_HANDLE:
            raise BadProfile(f"mount: handle must have 1 to {LARGEST_HANDLE} octets (RFC 1813 2.4)")
    elif mount.get("transport") not in ("rdma", "tcp"):
        raise BadProfile("mount: transport must be rdma or tcp")
    if mount.get("transport") == "tcp":
        port = mount.get("port")
        if not isinstance(mount.get("host"), str) or not _is_host(mount["host"]):
            raise BadProfile("mount: host must be a name or an address")
        if not isinstance(port, int) or isinstance(port, bool) or not 0 < port < 65536:
            raise BadProfile("mount: port must be a number from 1 to 65535")


def _is_text(value):
    """Whether the value can be an address or file name: encodable, without NUL."""
    try:
        return "\0" not in value and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _is_host(value):
    try:
        return bool(value) and _is_text(value) and value.encode("idna") is not None
    except UnicodeError:
        return False
