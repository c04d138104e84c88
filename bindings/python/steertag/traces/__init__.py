"""Traces in words: one decoded line a message, RDMA operation or event of a connection.

`lines_of_capture` (a file or its octets) and `lines_of_events` (of a recorder) give Lines. `trace_text` and
`line_text` print them. Reports draw from the same Lines: see line.py for their fields."""
