"""Writes type stubs of the engine's Python modules, which have no Python source: `stubs.py FOLDER`. The package
`steertag` must be importable.

pybind11 writes signatures into docstrings. Data classes and enumerations tell their fields and members themselves;
mypy's stubgen gives these fields no types."""

import ast
import builtins
import dataclasses
import enum
import importlib
import inspect
import pathlib
import re
import sys
import typing

NAMES = ("wire", "rpc", "ledger", "trace", "conformance", "fabric", "mutate", "peer", "nfs")
_HEAD = """\
# Made by bindings/stubs.py of the engine as it is.
import builtins
import dataclasses
import enum
import typing

Octets = bytes | bytearray | memoryview
"""
# What pybind11 calls the types of arguments and results.
_TYPES = {
    "buffer": "Octets",
    "handle": "typing.Any",
    "object": "typing.Any",
    "function": "typing.Callable[..., typing.Any]",
    "Callable": "typing.Callable",
    "Dict": "dict",
    "List": "list",
    "Optional": "typing.Optional",
    "Set": "set",
    "Tuple": "tuple",
    "Union": "typing.Union",
}
# Classes under other names: of containers pybind11 does not say what they hold.
_OTHER_NAMES = {
    "dict": "dict[typing.Any, typing.Any]",
    "list": "list[typing.Any]",
    "set": "set[typing.Any]",
    "tuple": "tuple[typing.Any, ...]",
}
_ANY = ast.parse("typing.Any", mode="eval").body
_SIGNATURE = re.compile(r"^(?:\d+\. )?(\w+)(\(.*\) -> .*)$")
# A default value whose representation is no expression.
_OBJECT = re.compile(r"= <[^<>]*(?:<[^<>]*>[^<>]*)*>")


def modules():
    """{dotted name below `steertag`: module} of all modules of the engine."""
    found = {}

    def add(name, module):
        found[name] = module
        for key, value in vars(module).items():
            if inspect.ismodule(value) and value.__name__.endswith(f"{name}.{key}"):
                add(f"{name}.{key}", value)

    for name in NAMES:
        add(name, importlib.import_module(f"steertag.{name}"))
    return found


def write(folder):
    """Writes the stubs below the folder, which stands for `steertag`."""
    found = modules()
    for name, module in found.items():
        path = pathlib.Path(folder, *name.split("."))
        inside = any(other.startswith(f"{name}.") for other in found)
        path = path / "__init__.pyi" if inside else path.with_suffix(".pyi")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stub(name, module, found))


def stub(name, module, known):
    """The text of a module's stub."""
    names = _Names(name, known)
    lines = []
    for key, value in sorted(vars(module).items(), key=_order):
        if f"{name}.{key}" in known:
            lines += ["", f"from . import {key} as {key}"]
        elif not key.startswith("_") and not inspect.ismodule(value):
            lines += ["", *_member(key, value, names)]
    return "\n".join([_HEAD, *names.imports(), *lines, ""])


def _order(row):
    """Classes, then functions, then values, which may be of the classes."""
    key, value = row
    return 0 if isinstance(value, type) else 1 if callable(value) else 2, key


class _Names(ast.NodeTransformer):
    """Rewrites the names of types to those that a stub of one module knows, and notes what to import."""

    def __init__(self, own, known):
        self._own, self._known = own, known
        self._imports = set()
        self.taken = ()  # the names of the class whose members are written

    def imports(self):
        return sorted(self._imports)

    def of_class(self, cls):
        """The name of a class."""
        module = cls.__module__
        if module == "builtins":
            return _OTHER_NAMES.get(cls.__name__, cls.__name__)
        dotted = module.removeprefix("steertag.").removeprefix("_engine.")
        if dotted == self._own:
            return cls.__qualname__
        if dotted in self._known or module.startswith("steertag."):
            self._imports.add(f"import steertag.{dotted}")
            return f"steertag.{dotted}.{cls.__qualname__}"
        return "typing.Any"

    def of_text(self, text):
        """The type that pybind11 writes as `text`."""
        try:
            return ast.unparse(self.visit(ast.parse(text, mode="eval").body))
        except SyntaxError:  # a type of C++ without a class
            return "typing.Any"

    def visit_Subscript(self, node):
        node.slice = self.visit(node.slice)
        bare = ast.unparse(node.value)
        node.value = ast.parse(_TYPES.get(bare, bare), mode="eval").body
        return node

    def visit_Name(self, node):
        text = _OTHER_NAMES.get(node.id) or _TYPES.get(node.id)
        if text is not None:
            return ast.parse(text, mode="eval").body
        if not hasattr(builtins, node.id):
            return _ANY
        return ast.parse(f"builtins.{node.id}", mode="eval").body if node.id in self.taken else node

    def visit_Attribute(self, node):
        try:
            module, _, name = ast.unparse(node).rpartition(".")
            cls = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            return _ANY
        return ast.parse(self.of_class(cls), mode="eval").body


def _member(key, value, names):
    if isinstance(value, type):
        return _class(key, value, names)
    if callable(value):
        return _function(key, value, names)
    return [f"{key}: {names.of_class(type(value))}"]


def _class(key, cls, names):
    if names.of_class(cls) != cls.__qualname__:  # of another module
        return [f"{key} = {names.of_class(cls)}"]
    if key != cls.__name__:  # a second name
        return [f"{key} = {cls.__name__}"]
    if issubclass(cls, enum.Enum):
        members = [f"    {each} = {value.value!r}" for each, value in cls.__members__.items()]
        return [f"class {key}(enum.IntEnum):", *(members or ["    ..."])]
    if dataclasses.is_dataclass(cls):
        head = ["@dataclasses.dataclass", f"class {key}:"]
        body = [
            f"    {each.name}: {_field(each.type, names)} = ..." for each in dataclasses.fields(cls)
        ]
    else:
        base = next((each for each in cls.__bases__ if each.__name__ != "pybind11_object"), object)
        head = [f"class {key}:" if base is object else f"class {key}({names.of_class(base)}):"]
        body = []
    if cls.__doc__ and "\n" not in cls.__doc__:
        body.insert(0, f"    {ast.unparse(ast.Constant(cls.__doc__))}")
    known = {each.name for each in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else ()
    names.taken = vars(cls)
    for name, value in vars(cls).items():
        special = name.startswith("_") and name not in ("__init__", "__len__", "__bytes__")
        # A class without a constructor of its own is made by others only.
        by_others = name == "__init__" and not (value.__doc__ or "").startswith("__init__(")
        if not special and not by_others and name not in known:
            body += [f"    {line}" for line in _attribute(name, value, names)]
    names.taken = ()
    return [*head, *(body or ["    ..."])]


def _field(declared, names):
    return "typing.Any" if declared is typing.Any else names.of_class(declared)


def _attribute(name, value, names):
    if isinstance(value, property):
        text = (value.fget.__doc__ or "").splitlines()[:1]
        result = names.of_text(text[0].rpartition(" -> ")[2]) if text else "typing.Any"
        lines = ["@property", f"def {name}(self) -> {result}: ..."]
        if value.fset is not None:
            lines += [f"@{name}.setter", f"def {name}(self, value: {result}) -> None: ..."]
        return lines
    if isinstance(value, staticmethod):
        made = _function(name, value.__func__, names)
        return [line for each in made for line in _static(each)]
    if isinstance(value, type):
        return [f"{name}: typing.Type[{names.of_class(value)}]"]
    if callable(value):
        return _function(name, value, names)
    return [f"{name}: typing.ClassVar[{names.of_class(type(value))}]"]


def _static(line):
    return ["@staticmethod", line] if line.startswith("def ") else [line]


def _function(key, function, names):
    """A line for each overload."""
    found = []
    for line in (function.__doc__ or "").splitlines():
        match = _SIGNATURE.match(line)
        if match and match[1] == key and not match[2].startswith("(*args, **kwargs)"):
            found.append(_signature(key, match[2], names))
    found = found or [f"def {key}(*args: typing.Any, **kwargs: typing.Any) -> typing.Any: ..."]
    if len(found) == 1:
        return found
    return [line for each in found for line in ("@typing.overload", each)]


def _signature(key, text, names):
    text = _OBJECT.sub("= ...", text)
    given, _, result = text.rpartition(" -> ")
    try:
        made = ast.parse(f"def {key}{given}: ...").body[0]
    except SyntaxError:
        return f"def {key}(*args: typing.Any, **kwargs: typing.Any) -> {names.of_text(result)}: ..."
    arguments = made.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for argument in filter(None, [*every, arguments.vararg, arguments.kwarg]):
        known = argument.annotation
        argument.annotation = names.visit(known) if known is not None else _ANY
        if argument.arg == "self":
            argument.annotation = None
    for defaults in (arguments.defaults, arguments.kw_defaults):
        defaults[:] = [each and _literal(each) for each in defaults]
    _allow_none(arguments)
    return f"def {key}({ast.unparse(arguments)}) -> {names.of_text(result)}: ..."


def _literal(default):
    """The default value, or `...` for an object."""
    try:
        ast.literal_eval(default)
    except ValueError:
        return ast.Constant(...)
    return default


def _allow_none(arguments):
    """An argument whose default is None may be None, too."""
    places = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(places[::-1], arguments.defaults[::-1])]
    for argument, default in [*pairs, *zip(arguments.kwonlyargs, arguments.kw_defaults)]:
        if isinstance(default, ast.Constant) and default.value is None and argument.annotation:
            text = ast.unparse(argument.annotation)
            if not text.startswith(("typing.Optional", "typing.Any")):
                argument.annotation = ast.parse(f"typing.Optional[{text}]", mode="eval").body


if __name__ == "__main__":
    write(sys.argv[1])
