"""The HTML of a page: its shell, style and scripts in one file, with the content packed into it.

Each run writes one. Jinja takes longer to load than all of this; the script makes the elements."""

import base64
import hashlib
import json
import pathlib
import string
import zlib

FOLDER = pathlib.Path(__file__).parent
SHELL, STYLE = "index.html", "style.css"
SCRIPTS = ("elements.js", "ladder.js", "case_view.js", "filters.js", "page.js")


def page(content):
    """The page of a content in JSON types: see run_content and grade.grade_page."""
    style = _text(STYLE)
    script = "\n".join(map(_text, SCRIPTS))
    shell = string.Template(_text(SHELL))
    return shell.substitute(
        policy=_policy(style, script), style=style, script=script, content=_packed(content)
    )


def _text(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def _policy(style, script):
    """A content security policy: nothing is loaded, sent or run but this style and this script."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text):
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _packed(content):
    """The content for the script. In base64 no text of a target can end the element that holds it."""
    return base64.b64encode(zlib.compress(json.dumps(content).encode())).decode()
