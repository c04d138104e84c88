"""Lists with a reason for each entry: a file with one entry a line, and behind its first word the reason;
`#` at the start of a line makes a remark of it."""


class BadReasons(Exception):
    """A file that cannot be used; the text is one sentence."""


def read(path, marks):
    """[(entry, mark, reason)] in the order of the file. A mark is one of the words `marks` with a colon, as
    first word of the reason, and empty where there is none. Raises BadReasons."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadReasons(f"{path} cannot be read: {error}") from None
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry, _, rest = line.strip().partition(" ")
        mark, reason = _mark_and_reason(rest.strip(), marks)
        if not reason:
            raise BadReasons(f"{path}, line {number}: {entry} has no reason")
        # An entry without a mark is about what every mark is about.
        if any((entry, each) in found for each in ((mark, "") if mark else ("", *marks))):
            raise BadReasons(f"{path}, line {number}: {entry} is there twice")
        found[entry, mark] = reason
    return [(*key, reason) for key, reason in found.items()]


def _mark_and_reason(text, marks):
    for mark in marks:
        if text.startswith(f"{mark}:"):
            return mark, text.removeprefix(f"{mark}:").strip()
    return "", text
