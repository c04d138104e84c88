"""What cases are written with: the decorator, the judgement, and the words for outcomes."""

from . import kinds
from .case import case
from .expectation import expect

__all__ = ["case", "expect", "kinds"]
