"""The changelog of the Debian packages has each version and each change, as Debian's tools read it."""

import subprocess

import pytest

from ci.jobs import PROJECT
from ci.jobs.packages import debian_changelog

TEXT = """\
# Changes

Words before.

## 0.2.0

- One
  and a half.
- Two.

## 0.1.0

The first version.

- Three.
"""


def test_each_version_has_its_changes():
    assert (
        debian_changelog.changelog(TEXT, 0)
        == """\
steertag (0.2.0-1) bookworm; urgency=medium

  * One
    and a half.
  * Two.

 -- The Steertag authors <steertag@users.noreply.example>  Thu, 01 Jan 1970 00:00:00 +0000

steertag (0.1.0-1) bookworm; urgency=medium

  * Three.

 -- The Steertag authors <steertag@users.noreply.example>  Thu, 01 Jan 1970 00:00:00 +0000
"""
    )


def test_a_text_without_a_version_is_refused():
    with pytest.raises(debian_changelog.NoChanges):
        debian_changelog.changelog("# Changes\n", 0)


def test_debian_reads_that_of_the_project(tmp_path):
    text = debian_changelog.changelog((PROJECT / "CHANGELOG.md").read_text(), 0)
    (tmp_path / "changelog").write_text(text)
    done = subprocess.run(
        ["dpkg-parsechangelog", "--file", tmp_path / "changelog", "--show-field", "Version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == "", "dpkg-parsechangelog warns"
    assert done.stdout.endswith("-1\n")


def test_release_and_author_are_those_of_the_packages():
    packages = (PROJECT / "cmake" / "SteertagPackages.cmake").read_text()
    assert f"CPACK_DEBIAN_PACKAGE_RELEASE {debian_changelog.RELEASE})" in packages
    assert f'CPACK_PACKAGE_CONTACT "{debian_changelog.AUTHOR}")' in packages
