"""The base of the engine's data classes: they print and compare field by field.

It is written once: dataclasses would compile it for each of hundreds during the import of the
engine."""


class DataClass:
    __slots__ = ()
    __hash__ = None  # they are mutable

    def __repr__(self):
        fields = (f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
        return f"{type(self).__qualname__}({', '.join(fields)})"

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return all(
            getattr(self, name) == getattr(other, name) for name in self.__dataclass_fields__
        )
