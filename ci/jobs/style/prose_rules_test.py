"""The rule for prose: what counts as a sentence, and what is refused."""

import pytest

from ci.jobs.style import prose_rules

LONG = "A " + " ".join(["word"] * (prose_rules.MOST_WORDS - 1)) + " more."
SHORT = "A " + " ".join(["word"] * (prose_rules.MOST_WORDS - 2)) + " end."


def problems(name, text):
    return list(prose_rules.problems_of(name, text))


def sentences(name, text):
    found = [s for block in prose_rules.blocks(name, text) for s in prose_rules.sentences(block)]
    return [sentence for _, sentence in found]


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.cpp", f"// Does it.\n// {SHORT} {SHORT}\n"),
        ("a.h", f"// Does it.\n/// {SHORT}\n/// {SHORT}\nint a;  // {SHORT}\n"),
        ("a.py", f'"""Does it."""\n# {SHORT}\nsaid = "{LONG}"\n'),
        ("a.sh", f"# {SHORT}\necho {LONG}\n"),
        ("script", f"#!/usr/bin/env bash\n# {SHORT}\n"),
        ("a.md", f"{SHORT}\n\n```\n{LONG}\n```\n\n    {LONG}\n\n| {LONG} |\n"),
        ("a.yaml", f"# {LONG}\n"),
        ("a.cpp", f'// Does it.\nsay("// {LONG}");\n'),
        ("a.cpp", f"// Does it.\n//\n// RFC 8166 4.3.2 and 4.3.3: {SHORT}\n"),
        ("a.cpp", f"// Does it.\n// - {SHORT}\n// - {SHORT}\n"),
    ],
)
def test_plain_prose_passes(name, text):
    assert problems(name, text) == []


@pytest.mark.parametrize(
    "name, text, line",
    [
        ("a.cpp", f"// Does it.\n// {LONG}\n", 1),
        ("a.h", f"// Does it.\n\n/// {SHORT}\n///\n/// {LONG}\n", 5),
        ("a.h", f"// Does it.\nint a;  // {LONG}\n", 2),
        ("a.py", f'"""Does it."""\n\n\ndef f():\n    """{LONG}"""\n', 5),
        ("a.py", f'"""Does it."""\n# {LONG}\n', 2),
        ("a.py", f'"""Does it."""\na = 1  # {LONG}\n', 2),
        ("a.sh", f"# {LONG}\n", 1),
        ("script", f'#!/usr/bin/env python3\n"""{LONG}"""\n', 2),
        ("CMakeLists.txt", f"# {LONG}\n", 1),
        ("a.md", f"# Title\n\n- {LONG}\n", 3),
    ],
)
def test_a_long_sentence_is_refused_with_its_line(name, text, line):
    (problem,) = problems(name, text)
    assert problem.startswith(f"{name}:{line}: 26 words in a sentence: A word")


@pytest.mark.parametrize(
    "phrase",
    [
        "two bits, of which one is set",
        "it hangs on the reply",
        "it is told of the loss",
        "the XID comes again",
        "nobody reads it",
        "a queue that knows that it says that",
        "what stands behind it",
    ],
)
def test_a_phrase_that_is_not_plain_is_refused(phrase):
    (problem,) = problems("a.cpp", f"// Here {phrase}.\n")
    assert "say it plainly" in problem


@pytest.mark.parametrize(
    "name, text, line",
    [
        (
            "a.cpp",
            '// Does it.\n\n// A "quote.\nfail("the reply, of "\n     "which one is set");\n',
            4,
        ),
        ("a.h", '// Does it.\nchar quote = \'"\'; auto text = "nobody reads it";\n', 2),
        ("a.py", '"""Does it."""\n\nraise Error(\n    f"{name}: nobody "\n    "reads it"\n)\n', 4),
        ("script", '#!/usr/bin/env python3\n"""Does it."""\nprint("nobody reads it")\n', 3),
        ("a.yaml", "# Rows.\n- why: nobody reads it\n", 2),
    ],
)
def test_a_text_that_users_see_is_held_to_the_words(name, text, line):
    (problem,) = problems(name, text)
    assert problem.startswith(f"{name}:{line}: ") and "say it plainly" in problem


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.cpp", '// Does it.\nchown("nobody");\n'),
        ("a_test.cpp", '// Does it.\nEXPECT_TRUE(it) << "nobody reads it";\n'),
        ("suites/self/a.py", '"""Does it."""\na = "nobody reads it"\n'),
        ("a.cpp", '// Does it.\nf("which of", g, " which is");\n'),
    ],
)
def test_names_and_texts_of_tests_are_not_held_to_them(name, text):
    assert problems(name, text) == []


def test_sentences_end_at_points_but_not_inside_numbers():
    text = "// See RFC 8166 4.5.1 first. Then vol. 1. `a` is next! (It is.)\n"
    assert sentences("a.cpp", text) == [
        "See RFC 8166 4.5.1 first",
        "Then vol. 1",
        "`a` is next",
        "(It is.)",
    ]


def test_the_first_line_of_a_source_is_a_sentence_that_fits():
    assert problems("a.h", "// Does\n// it.\n") == ["a.h:1: the first line is no whole sentence"]
    (problem,) = problems("a.h", f"// {'x' * 100}.\n")
    assert "104 columns" in problem
