"""Bundled servers with further arguments than the usual one, for cases that ask for them."""


class OtherServers:
    """Keeps each of them for later cases. While one serves, it also keeps the usual one. A pair is a
    (server_process.BundledServer, its Link or None)."""

    def __init__(self):
        self._kept = {}  # {arguments: pair}
        self._usual = None
        self.arguments = ()  # the further ones of the server that serves now

    def begin(self, arguments, usual, start):
        """The pair with these further arguments, which serves from now on in place of the pair `usual`. `start(name)` is
        called for one that does not run yet."""
        if arguments not in self._kept:
            self._kept[arguments] = start(f"other-{len(self._kept) + 1}"), None
        self._usual, self.arguments = usual, arguments
        return self._kept[arguments]

    def end(self, *present):
        """The usual pair serves again. `present` is the one that has served."""
        if self._usual is None:
            return present
        self._kept[self.arguments] = present
        usual, self._usual, self.arguments = self._usual, None, ()
        return usual

    def stop(self):
        """Stops all; a sentence if one did not end well, else None."""
        sentences = [stopped(server) for server, _ in self._kept.values()]
        self._kept = {}
        return next((each for each in sentences if each), None)


def stopped(server):
    """Stops a bundled server; a sentence if it did not end well, else None."""
    problem = server.stop()
    return f"bundled server {problem}: {server.output().strip()}" if problem else None
