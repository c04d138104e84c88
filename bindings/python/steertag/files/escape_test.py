"""Texts of others: nothing that a terminal obeys is left in them, nor what a CI service obeys in a log."""

import pytest

from steertag.files.escape import harmless, harmless_lines, printable
from steertag.testing.github_runner import obeyed

# name: what a terminal, a text editor or a file would obey
OBEYED = {
    "escape": "\x1b",
    "csi": "\x9b",
    "osc": "\x9d",
    "string end": "\x9c",
    "bell": "\x07",
    "backspace": "\x08",
    "delete": "\x7f",
    "zero": "\0",
    "return": "\r",
    "line end": "\n",
    "vertical tab": "\x0b",
    "next line": "\x85",
    "line separator": "\u2028",
    "override": "\u202e",
    "isolate": "\u2066",
    "mark": "\u200f",
    "no width": "\u200b",
    "byte order": "\ufeff",
    "tag": "\U000e0041",
    "octet": "\udc9b",
    "half a pair": "\ud800",
    "private use": "\ue000",
}


@pytest.mark.parametrize("character", OBEYED.values(), ids=OBEYED)
def test_no_character_is_obeyed(character):
    for made in (printable(f"a{character}b"), harmless(f"a{character}b")):
        assert made.isprintable() and made.isascii() and made.startswith("a\\x")
        made.encode()


def test_plain_text_stays():
    text = "RFC 8166 3.3.1: größer als ¼ – 漢字 😀, ::1, # [x]"
    assert printable(text) == harmless(text) == harmless_lines(text) == text


def test_an_escape_of_the_name_is_not_one_of_ours():
    assert printable("\\x1b") == "\\\\x1b" and printable("\x1b") == "\\x1b"


def test_a_text_keeps_its_escapes_and_its_lines():
    assert harmless_lines("b'\\x00'\n\tx\r\x1b") == "b'\\x00'\n\tx\\x0d\\x1b"


def test_a_log_has_no_commands():
    text = "x\n::error::a\n \t::add-path::/tmp\ny ##[add-mask]e\n"
    assert obeyed(text), "the runner obeys the text as it is"
    assert obeyed(harmless_lines(text)) == [] and obeyed(harmless(text)) == []
