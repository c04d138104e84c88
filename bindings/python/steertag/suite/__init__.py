"""What cases are written with: the decorator, the judgement, and the words for outcomes."""

from . import client_kinds, kinds
from .case import case
from .expectation import expect
from .transport import ANY, RDMA, TCP

__all__ = ["ANY", "case", "client_kinds", "expect", "kinds", "RDMA", "TCP"]
