"""The rule for includes: directions that are refused, what tests may do, and libraries that lack a link."""

import pytest

from ci.jobs.style import file_rules, include_rules

TABLE = """
| folder | responsible for | may use |
|---|---|---|
| `engine/support/` | bytes | - |
| `engine/wire/` | headers | support |
| `engine/trace/` | events, and (a, b) | support |
| `engine/fabric/` | RDMA | support, trace |
| `tools/` | programs | engine |
| `ci/` | checks | - |
"""
LIBRARY = "steertag_library(fabric\n  SOURCES\n    a.cpp\n    ${made}/b.cpp\n  LINKS {})\n"


@pytest.fixture
def table():
    return include_rules.Table(TABLE)


def problems(table, name, text):
    return list(include_rules.include_problems({name: text}, table))


@pytest.mark.parametrize(
    "name, text",
    [
        ("engine/fabric/a.cpp", '#include "trace/event.h"\n#include "support/bytes.h"\n'),
        ("engine/fabric/iwarp/a.h", '#include "fabric/fabric.h"\n#include <vector>\n'),
        ("engine/fabric/a_test.cpp", '#include "wire/header.h"\n'),
        ("engine/fabric/fuzz/a.cpp", '#include "wire/fuzz/check.h"\n'),
        ("engine/fabric/helper.h", '#include <gtest/gtest.h>\n#include "wire/header.h"\n'),
        ("tools/serve/main.cpp", '#include "fabric/fabric.h"\n#include "serve/options.h"\n'),
        ("elsewhere/a.cpp", '#include "fabric/fabric.h"\n'),
    ],
)
def test_what_the_table_allows(table, name, text):
    assert problems(table, name, text) == []


@pytest.mark.parametrize(
    "name, text, sentence",
    [
        ("engine/wire/a.h", '#include "fabric/x.h"\n', "engine/wire may not use fabric"),
        ("engine/wire/a_test.cpp", '#include "trace/x.h"\n', "engine/wire may not use trace"),
        ("engine/fabric/a.cpp", '#include "wire/x.h"\n', "engine/fabric may not use wire"),
        ("ci/consumer/a.cpp", '#include "wire/x.h"\n', "ci may not use wire"),
        (
            "engine/wire/a.h",
            '#include "../fabric/x.h"\n',
            "write the path from the engine's folder",
        ),
    ],
)
def test_what_it_refuses(table, name, text, sentence):
    (problem,) = problems(table, name, text)
    assert problem.startswith(f"{name}: includes ") and sentence in problem


def test_a_library_links_what_its_folder_includes(table):
    sources = {
        "engine/fabric/a.cpp": '#include "trace/event.h"\n#include "support/bytes.h"\n',
        "engine/fabric/a_test.cpp": '#include "wire/header.h"\n',
    }

    def missing(links):
        lists = {"engine/fabric/CMakeLists.txt": LIBRARY.replace("{}", links)}
        return list(include_rules.link_problems(sources, lists, table))

    assert missing("steertag_trace") == []
    sentence = "steertag_fabric includes trace but does not link it"
    assert missing("steertag_wire") == [f"engine/fabric/CMakeLists.txt: {sentence}"]


def test_a_table_that_says_nothing_is_refused():
    with pytest.raises(include_rules.BadTable, match="no table"):
        include_rules.Table("no table\n")
    with pytest.raises(include_rules.BadTable, match="engine/wire may use suport"):
        include_rules.Table(TABLE.replace("headers | support", "headers | suport"))


def test_the_projects_own_table_knows_every_engine_folder():
    table = include_rules.Table((file_rules.PROJECT / "ARCHITECTURE.md").read_text())
    folders = {path.parent.name for path in file_rules.PROJECT.glob("engine/*/CMakeLists.txt")}
    assert folders and all(table.folder_of(f"engine/{name}/x.h") for name in folders)
