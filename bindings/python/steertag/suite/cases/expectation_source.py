"""Checks calls of `expect` in source before a run: kinds of outcomes, and ids of requirements."""

import ast
import collections
import difflib
import functools
import inspect
import linecache
import types

from ..client import client_kinds
from . import kind_words, kinds

# The arguments of `expect` that hold kinds, by name and by place.
_KINDS = ("must", "should", "latitude", "warn")
_FIRST_KINDS = 2
_LISTS = (list, tuple, set, frozenset, dict)


def case_problems(function, declared):
    """Sentences about errors in the calls of `expect` in a case that declares these
    requirements."""
    code = function.__code__
    scope = _scopes(code.co_filename).get(code.co_firstlineno)
    if scope is not None:
        yield from _problems(scope, function.__globals__, code.co_filename, declared)


def module_problems(module):
    """Sentences about errors in the kinds of all calls of `expect` in a module's file."""
    path = getattr(module, "__file__", None)
    if path:
        yield from _problems(_scopes(path)[None], vars(module), path, None)


def modules_of(module):
    """The module and the modules of its functions, recursively, as far as they use `expect`."""
    found, waiting = [], [module]
    while waiting:
        each = waiting.pop()
        if each in found or not _uses_expect(each):
            continue
        found.append(each)
        functions = [one for one in vars(each).values() if isinstance(one, types.FunctionType)]
        waiting += [inspect.getmodule(one) for one in functions]
    return found


def _uses_expect(module):
    from .expectation import expect

    own = module is not None and not module.__name__.startswith("steertag.")
    return own and any(value is expect for value in vars(module).values())


class _Scope:
    """Of a function, or of a file: its calls by name, and the names that functions bind, which hide those of
    the module."""

    def __init__(self):
        self.calls = []
        self.local = set()


@functools.lru_cache(maxsize=None)
def _scopes(path):
    """{first line of a function, with decorators: _Scope}; that of the file is under None. One walk finds all, as
    each run begins with it."""
    scopes = collections.defaultdict(_Scope)
    scopes[None] = _Scope()
    waiting = [(ast.parse("".join(linecache.getlines(path))), (None,), False)]
    while waiting:
        node, within, inside = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            within, inside = (*within, first), True
        elif isinstance(node, ast.Lambda):
            inside = True
        elif isinstance(node, ast.Call):
            for scope in within:
                scopes[scope].calls.append(node)
        elif isinstance(node, ast.arg) or inside and _is_bound(node):
            for scope in within:
                scopes[scope].local.add(node.arg if isinstance(node, ast.arg) else node.id)
        waiting += [(child, within, inside) for child in ast.iter_child_nodes(node)]
    return scopes


def _is_bound(node):
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _problems(scope, names, path, declared):
    from .expectation import expect

    known = {name: value for name, value in names.items() if name not in scope.local}
    for call in sorted(scope.calls, key=lambda each: each.lineno):
        method, owner = "__call__", call.func
        if isinstance(owner, ast.Attribute):
            method, owner = owner.attr, owner.value
        if not isinstance(owner, ast.Name) or known.get(owner.id) is not expect:
            continue
        sentences = list(_kind_problems(call, known)) if method == "__call__" else []
        if declared is not None:
            sentences += _requirement_problems(call, method, known, declared)
        for sentence in sentences:
            yield f"{path}:{call.lineno}: {sentence}"


def _kind_problems(call, known):
    given = dict(zip(_KINDS, call.args[_FIRST_KINDS:]))
    given |= {each.arg: each.value for each in call.keywords if each.arg in _KINDS}
    for name, node in given.items():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield f"{name}={node.value!r}: expect takes a list of kinds, or a dictionary"
            continue
        for word in _words(node, known):
            problem = word if isinstance(word, _Missing) else kind_words.problem(word)
            if problem is not None:
                yield f"{name}=: {problem}"


class _Missing(str):
    """A sentence about a name that a module of kinds lacks."""


def _words(node, known):
    """The kinds in an expression, as far as the source shows them."""
    if isinstance(node, ast.Constant):
        yield from () if node.value is None else (node.value,)
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        for each in node.elts:
            yield from _words(each.value if isinstance(each, ast.Starred) else each, known)
    elif isinstance(node, ast.Dict):
        for key in node.keys:
            yield from _words(key, known) if key is not None else ()
    elif isinstance(node, ast.Name):
        yield from _flat(known.get(node.id))
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = known.get(node.value.id)
        if module in (kinds, client_kinds):
            if hasattr(module, node.attr):
                yield from _flat(getattr(module, node.attr))
            else:
                near = difflib.get_close_matches(
                    node.attr, [n for n in vars(module) if n.isupper()]
                )
                yield _Missing(
                    f"there is no {node.value.id}.{node.attr}; near are {', '.join(near)}"
                )


def _flat(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, _LISTS):
        yield from value


def _requirement_problems(call, method, known, declared):
    """Problems of ids in the source; other ids are checked at run time."""
    from .expectation import expect

    if not hasattr(expect, method):
        yield f"there is no expect.{method}"
        return
    place = list(inspect.signature(getattr(expect, method)).parameters).index("requirement_id")
    node = call.args[place] if place < len(call.args) else None
    node = next((each.value for each in call.keywords if each.arg == "requirement_id"), node)
    found = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.Name):
        found = known.get(node.id)
    if isinstance(found, str) and found not in declared:
        near = difflib.get_close_matches(found, declared, n=1, cutoff=0)
        yield f"{found} is not declared by the case; near is {near[0]}"
