"""The faults of a network: which share of its packets is dropped, doubled and reordered."""

from __future__ import annotations

import dataclasses

MOST_PERCENT = 25  # as of the faults that the provider makes itself


@dataclasses.dataclass(frozen=True)
class Faults:
    """In percent of the packets of each direction."""

    loss: int = 1
    duplicate: int = 1
    reorder: int = 5

    @classmethod
    def parse(cls, text: str) -> Faults:
        """LOSS:DUPLICATE:REORDER; ValueError with a sentence if it is not that."""
        words = text.split(":")
        shares = [int(word) for word in words if word.isdecimal()]
        known = len(words) == len(shares) == len(dataclasses.fields(cls))
        if not known or not all(1 <= share <= MOST_PERCENT for share in shares):
            raise ValueError(f"{text!r} is not three numbers from 1 to {MOST_PERCENT}, as 1:1:5")
        return cls(*shares)

    def __str__(self) -> str:
        return ":".join(map(str, dataclasses.astuple(self)))

    def parameters(self) -> str:
        """What the guest's kernel command line says of them (role `netem`)."""
        shares = dataclasses.asdict(self)
        return " ".join(f"netem_{name}={share}" for name, share in shares.items())

    def text(self) -> str:
        return f"loss {self.loss} %, duplicate {self.duplicate} %, reorder {self.reorder} %"
