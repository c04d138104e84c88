"""Runs Wireshark's programs with the plugin as an unprivileged user, and parses their output."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree

PROJECT = pathlib.Path(__file__).resolve().parents[2]
CAPTURES = PROJECT / "fixtures" / "captures"
RUN_LIMIT_S = 120
# Wireshark ignores root's plugins, so the programs run as the unprivileged user 65534.
NOBODY = "65534"
# Markers of a leak report: its start, and the owner of the memory.
LEAKS = re.compile(r"\s*=+\n==\d+==ERROR: LeakSanitizer: detected memory leaks\n")
TRACES = "stack_trace_format='    #%n %p in %f %S (%m+%o)'"
WIRESHARK_PARTS = (
    "steertag",
    "libwireshark",
    "libwiretap",
    "libwsutil",
    "libglib",
    "tshark",
    "sharkd",
)
# Output of Wireshark's own dissector, with two passes and a Send in several segments.
NOT_OURS = re.compile(r"\[Epan WARNING\] -- Dissector bug, protocol RPCoRDMA, in packet \d+:")


def build():
    """The build to test: STEERTAG_BUILD, or the release build."""
    return pathlib.Path(os.environ.get("STEERTAG_BUILD") or PROJECT / "build" / "release").resolve()


def plugins():
    """The plugin folder of the build."""
    return build() / "plugins"


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    """One finding in the fields; `frame` is the frame that it is about."""

    frame: int
    id: str
    culprit: str


@dataclasses.dataclass
class Output:
    status: int
    text: str
    errors: str


def plain(field):
    """The name of a field without the common prefix."""
    return field.get("name").removeprefix("steertag.")


def leaks_of_ours(report):
    """Leaks in a report whose memory the plugin allocated, itself or through libraries other than
    Wireshark's."""
    for leak in report.split("\n\n"):
        modules = re.findall(r"^ +#\d+ .*\((\S+?)\+", leak, re.MULTILINE)
        named = [pathlib.Path(module).name for module in modules]
        first = next((name for name in named if name.startswith(WIRESHARK_PARTS)), "")
        if first.startswith("steertag"):
            yield f"\n{leak}"


class Frame:
    """The items under one frame: fields by name, in tree order."""

    def __init__(self, number, packet):
        self.number = number
        self._protocol = packet.find("proto[@name='steertag']")

    @property
    def empty(self):
        return self._protocol is None

    def _fields(self, name):
        if self.empty:
            return []
        name = f"steertag.{name}"
        return [field for field in self._protocol.iter("field") if field.get("name") == name]

    def all(self, name):
        """The values of a field, as text."""
        return [field.get("show") for field in self._fields(name)]

    def one(self, name):
        values = self.all(name)
        assert len(values) == 1, f"frame {self.number}: steertag.{name} is {values}"
        return values[0]

    def items(self, name):
        """The items of this name, each with its value and those below it. Chunk segments are in
        `chunks`."""
        found = []
        for field in self._fields(name):
            parts = {plain(below): below.get("show") for below in field}
            chunks = [
                {"chunk": below.get("show")}
                | {plain(part).removeprefix("chunk."): part.get("show") for part in below}
                for below in field
                if plain(below) == "chunk"
            ]
            found.append({name: field.get("show"), "chunks": chunks} | parts)
        return found

    def findings(self):
        return [
            Finding(int(item["finding.frame"]), item["finding.id"], item["finding.culprit"])
            for item in self.items("finding")
        ]


class Wireshark:
    """The programs, and an unusable home directory. The plugin is on by default."""

    def __init__(self, home, with_plugin=True):
        self.home = home
        self.plugins = home / "plugins"
        if with_plugin:
            # The checkout may be unreadable for another user.
            shutil.copytree(plugins(), self.plugins)
        self._root = os.geteuid() == 0
        self._environment = {}
        self._sanitized = "STEERTAG_PRELOAD" in os.environ
        if self._sanitized:
            # A plugin with sanitizers needs their libraries from the start.
            self._environment = {
                "LD_PRELOAD": os.environ["STEERTAG_PRELOAD"],
                "ASAN_OPTIONS": f"detect_leaks=1:detect_stack_use_after_return=1:{TRACES}",
                "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
                # Wireshark has leaks of its own: leaks_of_ours tells them apart.
                "LSAN_OPTIONS": "exitcode=0",
            }

    def preload(self, library, **variables):
        """Makes the programs preload a library, with these environment variables."""
        self._environment |= {"LD_PRELOAD": library} | variables

    def command(self, program, *arguments):
        """The command line of a program."""
        found = shutil.which(program)
        assert found, f"{program} is not installed"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "WIRESHARK_PLUGIN_DIR": str(self.plugins),
            # Capture programs; Wireshark runs them for their capabilities, and they hang with
            # sanitizers.
            "WIRESHARK_EXTCAP_DIR": str(self.home / "no-extcap"),
        }
        environment |= self._environment
        command = ["env", "-i", *(f"{key}={value}" for key, value in environment.items()), found]
        if self._root:
            become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            command = [*become, *command]
        return [*command, *map(str, arguments)]

    def readable(self, path):
        """A copy of a file that another user can read. A checkout may be in root's home."""
        copy = self.home / path.name
        if copy != path:
            shutil.copyfile(path, copy)
        copy.chmod(0o644)
        return copy

    def run(self, program, *arguments, given=None, limit_s=RUN_LIMIT_S):
        done = subprocess.run(
            self.command(program, *arguments),
            input=given,
            capture_output=True,
            timeout=limit_s,
            cwd=self.home,
            check=False,
        )
        text = done.stdout.decode(errors="replace")
        errors = done.stderr.decode(errors="replace")
        if self._sanitized:
            errors, *reports = LEAKS.split(errors, maxsplit=1)
            leaks = [leak for report in reports for leak in leaks_of_ours(report)]
            assert not leaks, "".join(leaks)
        return Output(done.returncode, text, errors)

    def tshark(self, capture, *arguments, passes=1):
        """The standard output. Fails on error output, and on any status except 0."""
        twice = ["-2"] if passes == 2 else []
        output = self.run("tshark", "-n", *twice, "-r", self.readable(capture), *arguments)
        said = [line for line in output.errors.splitlines() if line and not NOT_OURS.search(line)]
        assert output.status == 0 and not said, f"status {output.status}: {output.errors}"
        return output.text

    def frames(self, capture, *arguments, passes=1):
        """Every frame with the plugin's items."""
        text = self.tshark(capture, "-T", "pdml", "-J", "frame steertag", *arguments, passes=passes)
        packets = xml.etree.ElementTree.fromstring(text).iter("packet")
        return [
            Frame(int(packet.find(".//field[@name='num']").get("show")), packet)
            for packet in packets
        ]

    def findings(self, capture, *arguments, passes=1):
        frames = self.frames(capture, *arguments, passes=passes)
        return sorted(finding for frame in frames for finding in frame.findings())

    def sharkd(self, *requests):
        """The answers of one sharkd to requests (method, parameters)."""
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
            for number, (method, parameters) in enumerate(requests, 1)
        ]
        output = self.run("sharkd", "-", given="".join(f"{line}\n" for line in lines).encode())
        assert output.status == 0, output.errors
        answers = [json.loads(line) for line in output.text.splitlines() if line.startswith("{")]
        return [answer.get("result", answer) for answer in answers if "id" in answer]
