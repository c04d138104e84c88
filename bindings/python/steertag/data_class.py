"""The engine's data classes. There are hundreds, and a process uses few.

The import of the engine makes them without what dataclasses would compile for each. That follows at the first use of a
class, as does the import of dataclasses. What compares and prints is written once."""


class _AtFirstUse:
    """A member that dataclasses makes."""

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, instance, owner):
        if not hasattr(owner, "_defaults"):
            raise AttributeError(self._name)
        _complete(owner)
        return getattr(owner if instance is None else instance, self._name)


class DataClass:
    """`__match_args__` are the names of the fields."""

    __slots__ = ()
    __hash__ = None  # they are mutable
    __init__ = _AtFirstUse()
    __dataclass_fields__ = _AtFirstUse()
    __dataclass_params__ = _AtFirstUse()

    def __repr__(self):
        fields = (f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__qualname__}({', '.join(fields)})"

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)


def make(name, module, doc, defaults):
    """A data class with these fields, [(name, default value)]."""
    names = tuple(each for each, _ in defaults)
    return type(
        name,
        (DataClass,),
        {
            "__module__": module,
            "__doc__": doc,
            "__slots__": names,
            "__match_args__": names,
            "_defaults": tuple(value for _, value in defaults),
        },
    )


def _complete(cls):
    """Gives the class its constructor and the descriptions of its fields."""
    import dataclasses

    declared = [
        (name, _type_of(value), dataclasses.field(**_default(value)))
        for name, value in zip(cls.__match_args__, cls._defaults)
    ]
    made = dataclasses.make_dataclass(cls.__name__, declared, repr=False, eq=False)
    cls.__annotations__ = made.__annotations__
    for name, value in vars(DataClass).items():
        if isinstance(value, _AtFirstUse):
            setattr(cls, name, vars(made)[name])


def _type_of(value):
    import typing

    return typing.Any if value is None else type(value)


def _default(value):
    """The arguments of dataclasses.field. Every instance needs a mutable default of its own."""
    mutable = isinstance(value, (list, DataClass))
    return {"default_factory": type(value)} if mutable else {"default": value}
