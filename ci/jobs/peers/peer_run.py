"""What a peer's tests found, and why a peer cannot run."""

import dataclasses


class CannotRun(Exception):
    """What is needed is not there or did not run; the text is one sentence."""


@dataclasses.dataclass
class PeerRun:
    """How many tests passed, and {name of a test that failed: its message in one line}."""

    passed: int
    failed: dict
