"""The decoded trace of a case for the report: the lines that a failure prints, as values."""

from ...traces.trace_text import shown_lines

# Connections of a case whose trace the report has: the first on which the target breaks a requirement, or the
# last.
MOST_CONNECTIONS = 2


def trace_rows(connections):
    """[row] for report.json: see Line.row. `connection` counts those of the case, from 1."""
    traced = [
        (number, shown_lines(conn.trace_lines()))
        for number, conn in enumerate(connections, start=1)
        if hasattr(conn, "trace_lines")
    ]
    broken = [each for each in traced if any(line.is_marked for line in each[1])]
    chosen = broken[:MOST_CONNECTIONS] or traced[-1:]
    return [{**line.row(), "connection": number} for number, lines in chosen for line in lines]
