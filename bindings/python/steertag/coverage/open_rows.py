"""The rows that are known to be open: a file with one requirement id a line, `#` before a remark."""


class BadOpenRows(Exception):
    """A file that cannot be used; the text is one sentence."""


def read(path):
    """The ids in the file, in their order; raises BadOpenRows."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadOpenRows(f"{path} cannot be read: {error}") from None
    ids = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if len(words) > 1:
            raise BadOpenRows(f"{path}, line {number}: one id a line")
        if words and words[0] in ids:
            raise BadOpenRows(f"{path}, line {number}: {words[0]} is there twice")
        ids += words
    return ids
