"""The rules for files: what passes, and the one sentence for each mistake."""

import pytest

from ci.jobs.style import file_rules

HOME = "/ho" + "me/someone"  # in two parts, or this file would break the rule


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.cpp", "// Says what it does.\n"),
        ("a.py", '#!/usr/bin/env python3\n"""Says what it does."""\n'),
        ("a.py", '"""Says what it does."""\n'),
        ("a.cmake", "# Says what it does.\n"),
        ("a.sh", "# shellcheck shell=bash\n# Says what it does.\n"),
        ("script", "#!/usr/bin/env bash\n# Says what it does.\n"),
        ("script", '#!/usr/bin/env python3\n"""Says what it does."""\n'),
        ("notes", "no source\n"),
        ("a.json", "{}\n"),
        ("a.py", '"""Says."""\nurl = "https://example.org' + HOME + '"\n'),
        ("a.py", '"""Says."""\npath = "/usr/bin/python3"\n'),
        ("lab/guest/init", "#!/bin/sh\n# Says.\ncd " + HOME + "\n"),
    ],
)
def test_good_files_have_no_problem(name, text):
    assert list(file_rules.problems_of(name, text)) == []


@pytest.mark.parametrize(
    "name, text, sentence",
    [
        ("a.cpp", "#include <map>\n", "does not start with a sentence"),
        ("a.h", "//\n#pragma once\n", "does not start with a sentence"),
        ("a.py", "import os\n", "does not start with a sentence"),
        ("script", "#!/bin/sh\nset -e\n", "does not start with a sentence"),
        ("a.cpp", "\n", "is empty"),
        ("a.yaml", "path: " + HOME + "\n", "a.yaml:1: names a path of one machine"),
        ("a.cpp", "// Says.\n// See " + HOME + "/x\n", "a.cpp:2: names a path of one machine"),
    ],
)
def test_each_mistake_has_its_sentence(name, text, sentence):
    problems = list(file_rules.problems_of(name, text))
    assert len(problems) == 1 and sentence in problems[0], problems


def test_long_files_are_mentioned():
    text = "// Says.\n" * file_rules.MOST_LINES
    assert "500 lines" in list(file_rules.warnings_of("a.cpp", text))[0]
    assert list(file_rules.warnings_of("a.cpp", "// Says.\n")) == []


def test_tracked_files_hold_this_one():
    assert "ci/jobs/style/file_rules_test.py" in file_rules.tracked()
