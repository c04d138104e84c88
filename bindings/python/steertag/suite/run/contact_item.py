"""What pytest runs in place of all cases when the first contact with the peer under test is the result."""

import pytest


class ContactItem(pytest.Item):
    """The first contact with the peer under test, before all cases.

    Its record exists: nothing is left to do but to end the run."""

    def __init__(self, *, suite, why, **fields):
        """`suite` is the case_session.CaseSession of the peer; `why` is a sentence."""
        super().__init__(**fields)
        self._suite = suite
        self._why = why

    def runtest(self):
        """The contact is over."""
        self._suite.lost = self._why

    def reportinfo(self):
        return self.path, None, self.name
