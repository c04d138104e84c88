"""The rows with cases that no deviation breaks: a file with one requirement id a line, and behind it the
reason why none can, or why its cases could not see it; `#` at the start of a line makes a remark of it."""


class BadUnbrokenRows(Exception):
    """A file that cannot be used; the text is one sentence."""


def read(path):
    """{id: reason} in the order of the file; raises BadUnbrokenRows."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadUnbrokenRows(f"{path} cannot be read: {error}") from None
    reasons = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        requirement_id, _, reason = line.strip().partition(" ")
        if not reason:
            raise BadUnbrokenRows(f"{path}, line {number}: {requirement_id} has no reason")
        if requirement_id in reasons:
            raise BadUnbrokenRows(f"{path}, line {number}: {requirement_id} is there twice")
        reasons[requirement_id] = reason.strip()
    return reasons
