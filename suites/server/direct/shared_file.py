"""A file that others change over another connection, by NFS version 3."""

from ..changed_directory import ChangedDirectory, FILE_SYNC

NAME = "changed"


class SharedFile(ChangedDirectory):
    """A file with this content, in a directory of its own."""

    def __init__(self, bench, content):
        super().__init__(bench)
        self.content = content
        self.file = self.make_file(NAME, content)

    def write_at(self, offset, data):
        fields = {"file": self.file, "offset": offset, "count": len(data), "stable": FILE_SYNC}
        self._run("WRITE", data=data, **fields)

    def set_attributes(self, **attributes):
        self._run("SETATTR", object=self.file, new_attributes=attributes, guard=None)

    def rename_over(self):
        self.make_file("other", b"other")
        self._run("RENAME", from_=self.where("other"), to=self.where(NAME))

    def replace(self, content):
        """Removes the file, and makes another one of its name."""
        self.remove(NAME)
        self.file = self.make_file(NAME, content)
