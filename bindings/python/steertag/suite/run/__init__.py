"""A run of the suite in pytest: options, sessions, the target's process, reports."""
