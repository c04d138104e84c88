"""What the engine's data classes have in common: they print and compare field by field. Written once for
all of them, since dataclasses would compile it for each of hundreds while the engine is imported."""


class DataClass:
    __slots__ = ()
    __hash__ = None  # they may change

    def __repr__(self):
        fields = (f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
        return f"{type(self).__qualname__}({', '.join(fields)})"

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return all(
            getattr(self, name) == getattr(other, name) for name in self.__dataclass_fields__
        )
