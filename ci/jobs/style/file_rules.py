"""The project's own rules for files: a first comment, no paths of one machine, includes in one
direction, plain prose, and a word about length."""

import pathlib
import re
import subprocess

from ci.jobs import PROJECT
from ci.jobs.style import prose_rules
from ci.jobs.style.include_rules import BadTable, Table, include_problems, link_problems

# Longer files are listed, not refused: one noun may need more.
MOST_LINES = 500
SUFFIXES = {".h", ".cpp", ".py", ".cmake", ".sh"}
# How the first comment of a file looks, by suffix; scripts without a suffix have their shebang first.
FIRST_COMMENT = {
    ".h": re.compile(r"// \S"),
    ".cpp": re.compile(r"// \S"),
    ".py": re.compile(r'(#![^\n]*\n)?(r?"""\S|# \S)'),
    ".cmake": re.compile(r"# \S"),
    ".sh": re.compile(r"(# shellcheck[^\n]*\n)?# \S"),
    "": re.compile(r'#![^\n]*\n(# \S|r?"""\S)'),
}
# Paths that exist on one machine only: home directories, and the directories that a checkout is
# often put into. Guests of the lab have a root of their own.
MACHINE_PATH = re.compile(r"(?<![\w.@:/$}])/(home|root|work|Users|mnt|media)/\w")
FOREIGN_ROOT = ("lab/guest/", "lab/workload/")


def tracked():
    """Files of the project, new ones included, without what git ignores."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=PROJECT, capture_output=True, check=True).stdout
    names = sorted(set(listed.decode().split("\0")) - {""})
    return [name for name in names if (PROJECT / name).is_file()]


def is_script(name, text):
    return "." not in pathlib.PurePath(name).name and text.startswith("#!")


def problems_of(name, text):
    """Sentences about what is wrong with one file."""
    path = pathlib.PurePath(name)
    source = path.suffix in SUFFIXES or is_script(name, text)
    if source and text.strip():
        pattern = FIRST_COMMENT[path.suffix]
        if not pattern.match(text):
            yield f"{name}: does not start with a sentence on what it is responsible for"
    if source and not text.strip():
        yield f"{name}: is empty"
    if not name.startswith(FOREIGN_ROOT):
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINE_PATH.search(line):
                yield f"{name}:{number}: names a path of one machine: {line.strip()[:80]}"


def warnings_of(name, text):
    """Sentences about what deserves a look."""
    lines = text.count("\n")
    if pathlib.PurePath(name).suffix in SUFFIXES and lines >= MOST_LINES:
        yield f"{name}: {lines} lines; files should have fewer than {MOST_LINES}"


def direction_problems(texts):
    """Sentences about includes and links; `texts` maps the paths of all files to their texts."""
    sources = {name: text for name, text in texts.items() if name.endswith((".h", ".cpp"))}
    lists = {name: text for name, text in texts.items() if name.endswith("CMakeLists.txt")}
    try:
        table = Table(texts["ARCHITECTURE.md"])
    except BadTable as error:
        return [str(error)]
    return [*include_problems(sources, table), *link_problems(sources, lists, table)]


def main(_=None):
    texts = {}
    for name in tracked():
        try:
            texts[name] = (PROJECT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # captures and other binary fixtures
    problems = direction_problems(texts)
    for name, text in texts.items():
        for warning in warnings_of(name, text):
            print(f"warning: {warning}")
        problems += problems_of(name, text)
        problems += prose_rules.problems_of(name, text)
    for problem in problems:
        print(problem)
    return 1 if problems else 0
