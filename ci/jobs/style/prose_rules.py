"""The rule for prose: short sentences and plain words in comments, docstrings and pages.

The words hold in texts that users see too: string literals of C++ and Python, and YAML files."""

import ast
import io
import pathlib
import re
import tokenize

MOST_WORDS = 25
# The first line of a file has to fit on a screen beside its name.
MOST_FIRST_LINE = 100
BANNED = re.compile(
    r"\bof\s+which\b|\b(?:hang|hangs|hung)\s+on\b|\bit\s+is\s+told\b|\b(?:come|comes|came)\s+again\b"
    r"|\bby\s+the\s+hand\s+of\b|\b(?:stand|stands)\s+behind\b|\b(?:no|any|some)body\b"
    r"|\bthat (?:\w+ ){0,4}that (?:\w+ ){0,4}that\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\S*[A-Za-z0-9]\S*")
# A sentence ends before a capital, a digit, an opening quote or a bracket; "vol. 1" is no end.
_END = re.compile(r"(?<!\bvol)(?<!e\.g)(?<!i\.e)[.!?][\"')`*]*\s+(?=[A-Z0-9`\"'(*_\[])")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
# A clause is cited before the sentence: "RFC 8166 4.3.2 and 4.4: ...".
_CITATION = re.compile(r"^(?:RFC \d+|InfiniBand|IBTA|verbs)[^:]{0,60}:\s+")

# C++: comments, whose quotes are no literals, and literals that the compiler joins.
_CXX_COMMENT = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
_CXX_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
_BETWEEN_LITERALS = re.compile(r'"\s*"')


class Block:
    """Lines of prose that belong together. `line` is the number of the first, from 1."""

    def __init__(self, line, lines):
        self.line = line
        self.lines = lines


def _paragraphs(block):
    """(line, text) of each paragraph and list item. Examples, which are indented, are left out."""
    line, words = block.line, []
    for number, text in enumerate(block.lines, block.line):
        item = _ITEM.match(text)
        example = text.startswith("    ") and not item
        if not text.strip() or example or item or text.startswith(("|", "#")):
            if words:
                yield line, " ".join(words)
            words = []
        if not text.strip() or example or text.startswith(("|", "#")):
            continue
        if not words:
            line = number
        words.append(text[item.end() :].strip() if item else text.strip())
    if words:
        yield line, " ".join(words)


def sentences(block):
    """(line, sentence) of a block; the line is that of its paragraph."""
    for line, text in _paragraphs(block):
        for sentence in _END.split(text):
            sentence = _CITATION.sub("", sentence.strip())
            if sentence:
                yield line, sentence


def _comment_lines(text, marker):
    """Blocks of full-line comments and of comments behind code."""
    whole = re.compile(rf"\s*{marker}(?: (.*)|$)")
    behind = re.compile(rf'^[^"\']*\S.*\s{marker} (\S.*)$')
    start, lines = 0, []
    for number, line in enumerate(text.splitlines(), 1):
        found = whole.match(line)
        if found and not line.startswith("#!"):
            start = start or number
            lines.append(found[1] or "")
            continue
        if lines:
            yield Block(start, lines)
            start, lines = 0, []
        found = behind.match(line)
        if found:
            yield Block(number, [found[1]])
    if lines:
        yield Block(start, lines)


def _docstrings(text):
    places = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, places) and ast.get_docstring(node) is not None:
            yield Block(node.body[0].lineno, ast.get_docstring(node).splitlines())


def _python_comments(text):
    kept = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            kept[token.start[0] - 1] = token.string
    return _comment_lines("\n".join(kept), "#")


def _page(text):
    """A page in Markdown, without its examples."""
    lines, fenced = [], False
    for line in text.splitlines():
        fence = line.startswith("```")
        fenced ^= fence
        lines.append("" if fence or fenced else line)
    yield Block(1, lines)


def blocks(name, text):
    """The prose of one file; none of a file whose language is not known."""
    suffix = pathlib.PurePath(name).suffix
    shebang = text.partition("\n")[0] if text.startswith("#!") else ""
    if suffix in (".h", ".cpp"):
        yield from _comment_lines(text, "///?")
    elif suffix == ".py" or "python" in shebang:
        yield from _docstrings(text)
        yield from _python_comments(text)
    elif suffix in (".sh", ".cmake") or name.endswith("CMakeLists.txt") or shebang:
        yield from _comment_lines(text, "#")
    elif suffix == ".md":
        yield from _page(text)


def _is_test(name):
    """Whether no user sees the texts of the file. Cases are no tests of ours."""
    return name.endswith(("_test.cpp", "_test.py")) or name.startswith("suites/self/")


def _cxx_literals(text):
    blanked = _CXX_COMMENT.sub("", text.replace("'\"'", "   "))
    for found in _CXX_LITERAL.finditer(blanked):
        yield blanked.count("\n", 0, found.start()) + 1, _BETWEEN_LITERALS.sub("", found[0])


def _python_literals(text):
    tree = ast.parse(text)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in statements:  # a docstring is a block of prose
                yield node.lineno, node.value


def literals(name, text):
    """(line, text) of what users may see of one file: its string literals, or the lines of YAML."""
    suffix = pathlib.PurePath(name).suffix
    if _is_test(name):
        return
    if suffix in (".h", ".cpp"):
        yield from _cxx_literals(text)
    elif suffix == ".py" or text.startswith("#!") and "python" in text.partition("\n")[0]:
        yield from _python_literals(text)
    elif suffix in (".yaml", ".yml"):
        yield from enumerate(text.splitlines(), 1)


def _first_line_problem(name, text):
    if pathlib.PurePath(name).suffix in (".h", ".cpp"):
        first = text.partition("\n")[0]
        if len(first) > MOST_FIRST_LINE:
            return f"{name}:1: the first line has {len(first)} columns; say it in {MOST_FIRST_LINE}"
        if not first.rstrip().endswith((".", ":")):
            return f"{name}:1: the first line is no whole sentence"
    return None


def problems_of(name, text):
    """Sentences about the prose of one file."""
    problem = _first_line_problem(name, text)
    if problem:
        yield problem
    for block in blocks(name, text):
        for line, sentence in sentences(block):
            count = len(_WORD.findall(sentence))
            if count > MOST_WORDS:
                yield f"{name}:{line}: {count} words in a sentence: {sentence[:60]}"
            found = BANNED.search(sentence)
            if found:
                yield f'{name}:{line}: "{found[0]}": say it plainly: {sentence[:60]}'
    for line, literal in literals(name, text):
        found = BANNED.search(literal)
        if found and " " in literal.strip():  # one word is a name, such as that of a user
            yield f'{name}:{line}: "{found[0]}": say it plainly: {literal.strip()[:60]}'
