"""A host of row S8 that vanishes: a network namespace of its own, whose link goes down.

Nothing comes from it any more, no FIN and no RST. Its process stays, with its control connection to the metadata server.
"""

from ci.jobs.bench_nfs.namespaces import join, namespace, run
from ci.jobs.bench_pnfs.shaped_links import ShapedLinks

NAME, NUMBER = "vanishing", 1  # of the link, and of its subnet


class VanishingHost:
    """Its servers listen at `place`, each behind a link of `links`."""

    def __init__(self, stack, rate_mbit):
        self.place = join(stack.enter_context(namespace()), NAME, NUMBER)
        self.links = ShapedLinks(self.place, NAME, rate_mbit)

    def kill(self):
        """It vanishes."""
        self._set("down")

    def restore(self):
        """It is there again."""
        self._set("up")

    def _set(self, state):
        run(*self.place.enter, "ip", "link", "set", NAME, state)
