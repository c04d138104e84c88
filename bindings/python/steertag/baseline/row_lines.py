"""Where the rows of a baseline are in its file."""

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast


def row_lines(text):
    """{case id: line, from 1} of the rows in the text of a well-formed baseline."""
    return {
        value.value: value.start_mark.line + 1
        for key, rows in yaml.compose(text, _LOADER).value
        if key.value == "rows" and isinstance(rows, yaml.SequenceNode)
        for row in rows.value
        for name, value in row.value
        if name.value == "case"
    }
