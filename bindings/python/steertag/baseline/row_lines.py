"""Where the rows of a baseline are in its file."""

import yaml

from ..yaml_text import FastLoader


def row_lines(text):
    """{case id: line, from 1} of the rows in the text of a well-formed baseline."""
    return {
        value.value: value.start_mark.line + 1
        for key, rows in yaml.compose(text, FastLoader).value
        if key.value == "rows" and isinstance(rows, yaml.SequenceNode)
        for row in rows.value
        for name, value in row.value
        if name.value == "case"
    }
