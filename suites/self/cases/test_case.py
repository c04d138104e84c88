"""The decorator: permanent ids, declared requirements, and what is refused at once."""

import pytest

from steertag.requirements import UnknownRequirement
from steertag.suite import ANY, case, RDMA, TCP
from steertag.suite.cases.transport import binds

KNOWN = "RFC8166-4.5.1-1"


def empty():
    """The body of a case that does nothing."""


def made_case(id):
    return decorated(id)(empty).pytestmark[-1].args[0]


def decorated(id="self.example", **fields):
    fields.setdefault("requirements", [KNOWN])
    return case(id, **fields)


@pytest.mark.parametrize("id", ["Self.Example", "self", "self..x", "self.x_y", "self.{name} x", ""])
def test_ids_are_lower_case_words(id):
    with pytest.raises(ValueError, match="lower-case words"):
        made_case(id).id_for({"name": "a"})


def test_parameters_make_the_id():
    made = made_case("self.{kind}.{name}")
    assert made.id_for({"kind": "read", "name": "one-octet"}) == "self.read.one-octet"
    with pytest.raises(ValueError, match="which is no parameter"):
        made.id_for({"kind": "read"})
    with pytest.raises(ValueError, match="lower-case words"):
        made.id_for({"kind": "READ", "name": "x"})


def test_requirements_must_be_known():
    with pytest.raises(UnknownRequirement, match="RFC8166-9.9-9 is not in the ledger"):
        decorated(requirements=["RFC8166-9.9" + "-9"])


def test_a_case_without_requirement_is_refused():
    with pytest.raises(ValueError, match="names no requirement"):
        decorated(requirements=[])


def test_ids_used_in_the_body_must_be_declared():
    def body():
        return [expected for expected in ("RFC8166-4.5-5", "reply")]

    with pytest.raises(ValueError, match="uses RFC8166-4.5-5 but does not declare it"):
        decorated()(body)


def test_ids_used_in_the_body_must_be_known():
    def body():
        return {"RFC8166-9.9-9": "no such row"}

    with pytest.raises(UnknownRequirement):
        decorated()(body)


def test_needs_and_risk_have_known_words():
    with pytest.raises(ValueError, match="unknown need 'nfs9'"):
        decorated(needs=["nfs9"])
    with pytest.raises(ValueError, match="risk is one of safe, destructive"):
        decorated(risk="reckless")


def test_a_case_over_tcp_asserts_what_binds_there():
    with pytest.raises(ValueError, match="over is of rdma, tcp"):
        decorated(over="udp")
    with pytest.raises(ValueError, match="over is of rdma, tcp"):
        decorated(over=())
    with pytest.raises(ValueError, match="names no requirement that binds over TCP"):
        decorated(over=ANY)
    both = [KNOWN, "RFC5531-9-1"]
    with pytest.raises(ValueError, match="large-inline means nothing over TCP"):
        decorated(over=ANY, requirements=both, needs=["large-inline"])
    with pytest.raises(ValueError, match="rdma means nothing over TCP"):
        decorated(over=ANY, requirements=both, needs=["rdma"])
    assert decorated(over=ANY, requirements=both)(empty).pytestmark[-1].args[0].over == ANY


@pytest.mark.parametrize(
    "requirement_id, over_tcp",
    [
        ("RFC5531-9-1", True),
        ("RFC8881-18.46.3-3", True),  # slots
        ("RFC8881-2.10.3-1", True),  # callbacks
        ("RFC8881-2.9.2-7", False),  # credits
        ("RFC8881-2.10.6.2-3", False),  # steering tags
        ("RFC8881-2.10.7.3-1", False),  # padding
        (KNOWN, False),
    ],
)
def test_which_rows_bind_over_tcp(requirement_id, over_tcp):
    assert binds(requirement_id, TCP) == over_tcp
    assert binds(requirement_id, RDMA)
