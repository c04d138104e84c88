"""The error of every decoder of steertag.wire, rpc and nfs."""


class DecodeError(ValueError):
    """Octets that do not decode.

    `code` is the fault's name ("truncated", "bad_count", ...). `offset` is the first octet of the
    faulty field, and `field` is its name.
    """

    def __init__(self, message: str, code: str = "", offset: int = 0, field: str = "") -> None:
        super().__init__(message, code, offset, field)
        self.code = code
        self.offset = offset
        self.field = field

    def __str__(self) -> str:
        return self.args[0]
