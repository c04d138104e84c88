"""The changelog of the Debian packages, made of CHANGELOG.md. The time is that of SOURCE_DATE_EPOCH."""

import datetime
import email.utils
import os
import pathlib
import re
import sys
import time

RELEASE = "1"  # of the packaging; the same as CPACK_DEBIAN_PACKAGE_RELEASE
AUTHOR = (
    "The Steertag authors <steertag@users.noreply.example>"  # the same as CPACK_PACKAGE_CONTACT
)


class NoChanges(ValueError):
    """There is no version in the text."""


def changelog(text, seconds):
    """The entries in Debian's format (deb-changelog(5)), of a text with a heading `## VERSION` above the changes
    of each version. Raises NoChanges."""
    versions = re.findall(r"^## (\S+)$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not versions:
        raise NoChanges("there is no heading `## VERSION`")
    date = email.utils.format_datetime(
        datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    )
    return "\n".join(_entry(version, changes, date) for version, changes in versions)


def _entry(version, changes, date):
    lines = []
    for item in re.findall(r"^- (.*?)(?=^- |^\n|\Z)", changes, re.MULTILINE | re.DOTALL):
        first, *rest = item.strip().splitlines()
        lines += [f"  * {first}", *(f"    {line.strip()}" for line in rest)]
    head = f"steertag ({version}-{RELEASE}) bookworm; urgency=medium"
    return "\n".join([head, "", *lines, "", f" -- {AUTHOR}  {date}", ""])


def main(arguments):
    (path,) = arguments
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    print(changelog(pathlib.Path(path).read_text(encoding="utf-8"), seconds), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
