"""The one exception of the lab: a failure with a sentence for the person at the terminal."""


class LabFailure(Exception):
    """Says in one sentence what could not be done and why."""


class MachineDied(LabFailure):
    """The machine ended before it was asked to."""
