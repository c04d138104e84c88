"""What bundled servers keep over their restarts: exported files, the key of their handles, and their clients."""

import pathlib
import tempfile

# A client that does not reclaim holds the next case up for no longer. Above what a case takes on a busy machine.
LEASE_S = 20
# The server is another user within the export if it runs as root.
FOR_ALL = 0o777


class KeptState:
    """A folder for each server, by its other arguments. They exist until `remove`."""

    def __init__(self):
        self._root = None
        self._folders = {}  # {arguments: folder}

    def arguments_for(self, arguments):
        """Arguments by which a server with these other ones keeps its state in its folder."""
        folder = self._folders.get(arguments) or self._make_folder(arguments)
        return (
            f"--export={folder / 'export'}",
            f"--handle-key={folder / 'handles'}",
            f"--recovery={folder / 'clients'}",
            f"--lease={LEASE_S}",
        )

    def _make_folder(self, arguments):
        if self._root is None:
            self._root = tempfile.TemporaryDirectory(prefix="steertag-")
        folder = pathlib.Path(self._root.name) / str(len(self._folders) + 1)
        (folder / "export").mkdir(parents=True)
        (folder / "export").chmod(FOR_ALL)
        self._folders[arguments] = folder
        return folder

    def remove(self):
        if self._root is not None:
            self._root.cleanup()
        self._root, self._folders = None, {}
