"""The text of a baseline file as rows, each with its lines and the comments above them.

A row can thus change without touching another."""

import textwrap

import yaml

from . import untested
from ..yaml_text import FastLoader


class RowsText:
    """The text of a well-formed baseline."""

    def __init__(self, text):
        if not text.endswith("\n"):
            text += "\n"
        self._lines = text.splitlines(keepends=True)
        self._marks = {}  # of the value of each key of the head: (start, end)
        self._rows = {}  # case id: text
        self._indent = ""  # of the rows
        self._head, self._tail, self._tail_start = self._lines, [], len(self._lines)
        self._block = None  # lines of the block untested: (first, behind)
        for key, value in yaml.compose(text, FastLoader).value:
            if key.value == "rows":
                self._split(key, value)
            elif key.value == untested.KEY:
                self._block = key.start_mark.line, self._end(key, value)
            else:
                self._marks[key.value] = value.start_mark, value.end_mark

    def replace(self, case_id, row):
        """Replaces the row's text; the comments above it stay."""
        old = self._rows[case_id].splitlines(keepends=True)
        comments = "".join(old[: _comments(old)])
        self._rows[case_id] = comments + textwrap.indent(row, self._indent)

    def remove(self, case_id):
        del self._rows[case_id]

    def add(self, case_id, row):
        """Inserts the row in the order of ids, if the rows have that order; otherwise appends
        it."""
        ordered = list(self._rows) == sorted(self._rows)
        self._rows[case_id] = textwrap.indent(row, self._indent)
        if ordered:
            self._rows = dict(sorted(self._rows.items()))

    def set_date(self, date):
        if not self.replace_value("date", date):
            self._head.insert(0, f"date: {date}\n")

    def replace_value(self, key, value):
        """Whether the text has this key beside the rows; its value becomes `value`, YAML in one
        line."""
        if key not in self._marks:
            return False
        start, end = self._marks[key]
        before = self._lines[start.line][: start.column].rstrip() + " "  # there may be no value yet
        last, behind = end.line, self._lines[end.line][end.column :]
        if end.line > start.line and end.column == 0:  # a block, which ends before the next line
            last, behind = end.line - 1, "\n"
        self._replace_lines(start.line, last + 1, f"{before}{value}{behind}")
        return True

    def set_untested(self, text):
        """The block untested becomes `text`, in its place or below everything."""
        if self._block is None:
            self._tail.append(text)
        else:
            self._replace_lines(*self._block, text)

    def _replace_lines(self, first, behind, text):
        """Replaces lines of the head, or of what is below the rows."""
        part, index = self._head, first
        if index >= len(self._head):
            part, index = self._tail, index - self._tail_start
        part[index] = text
        for line in range(1, behind - first):
            part[index + line] = ""

    def _end(self, key, value):
        """The first line behind a value in block style, without the comments and empty lines below
        it."""
        end = value.end_mark.line + (value.end_mark.column > 0)
        while end - 1 > key.start_mark.line and _is_empty(self._lines[end - 1]):
            end -= 1
        return end

    def text(self):
        if not self._rows:
            return "".join([*self._head, "rows: []\n", *self._tail])
        return "".join([*self._head, "rows:\n", *self._rows.values(), *self._tail])

    def _split(self, key, value):
        """The lines before and after the rows, and those of each."""
        self._head = self._lines[: key.start_mark.line]
        if not getattr(value, "value", None) or value.flow_style:
            self._tail_start = value.end_mark.line + 1
            self._tail = self._lines[self._tail_start :]
            for node in getattr(value, "value", None) or []:
                entry = yaml.SafeLoader("").construct_document(node)
                row = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True)
                self._rows[entry["case"]] = row
            return
        indent = value.start_mark.column
        self._indent = " " * indent
        end = self._with_comments(value.end_mark.line, indent)
        starts = [self._with_comments(node.start_mark.line, indent) for node in value.value]
        for node, start, after in zip(value.value, starts, [*starts[1:], end], strict=True):
            case_id = next(text.value for name, text in node.value if name.value == "case")
            self._rows[case_id] = "".join(self._lines[start:after])
        self._tail, self._tail_start = self._lines[end:], end

    def _with_comments(self, start, indent):
        """The first line of the comments directly above the line `start`. Lines indented deeper
        than the rows may be part of a text."""
        while self._lines[start - 1][: indent + 1].lstrip(" ").startswith("#"):
            start -= 1
        return start


def _is_empty(line):
    """Whether a line has nothing but a comment."""
    return line.lstrip()[:1] in ("", "#")


def _comments(lines):
    """The number of leading lines that are comments."""
    return next(index for index, line in enumerate(lines) if not line.lstrip().startswith("#"))
