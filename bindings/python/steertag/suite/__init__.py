"""The names for writing cases: the decorator, the judgement, and the kinds of outcomes."""

from .cases import kinds
from .cases.case import case
from .cases.expectation import expect
from .cases.transport import ANY, RDMA, TCP
from .client import client_kinds

__all__ = ["ANY", "case", "client_kinds", "expect", "kinds", "RDMA", "TCP"]
