"""The one exception of the lab: a failure with a sentence for the person at the terminal."""


class LabFailure(Exception):
    """Says in one sentence what could not be done and why."""


class MachineDied(LabFailure):
    """The guest's kernel gave up, or says nothing any more, while its program ran."""
