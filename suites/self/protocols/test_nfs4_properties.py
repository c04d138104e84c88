"""Properties of the values of nfs4: operations and compounds decode to what was encoded.

Whatever octets are decoded, the only complaint is DecodeError. Illegal values can be made."""

import dataclasses
import enum

import pytest

from steertag import nfs, rpc, wire

pytest.importorskip("hypothesis", reason="python3-hypothesis is not installed (ci/setup --check)")
from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st

nfs4 = nfs.nfs4
# The same examples in every run, and few enough that the file takes some seconds.
per_operation = settings(
    derandomize=True,
    max_examples=8,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
u32, u64 = st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 64) - 1)
octets = st.binary(max_size=200)
# Octets that are no UTF-8 travel as surrogates.
texts = st.binary(max_size=60).map(lambda text: text.decode("utf-8", "surrogateescape"))
LONG_FIELDS = {"offset", "length", "cookie", "clientid", "csa_clientid", "eir_clientid", "before"}
bitmaps = st.lists(u32, max_size=8)
BITMAPS = {"attr_request", "attrmask", "attrset", "attrsset", "notify_mask", "craa_type_mask"}


def value_of(field):
    """Values of a dataclasses.Field, of what its default shows."""
    kind = field.type
    if dataclasses.is_dataclass(kind):
        return values_of(kind)
    if kind is bool:
        return st.booleans()
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return st.sampled_from(kind)
    if kind is int:
        return u64 if field.name in LONG_FIELDS else u32
    if kind is str:
        return texts
    if kind is bytes:
        fixed = len(field.default)  # opaque data of a fixed length has a default of that length
        return st.binary(min_size=fixed, max_size=fixed or 64)
    if kind is list:
        return bitmaps if field.name in BITMAPS else LISTS.get(field.name, st.just([]))
    return st.none()  # void


def values_of(kind):
    """Values of a data class; of a union with the fields of the arm that its discriminant selects."""
    fields = dataclasses.fields(kind)
    made = st.builds(kind, **{field.name: value_of(field) for field in fields})
    return made.map(canonical) if kind.__name__ in UNIONS or is_result(kind) else made


def is_result(kind):
    """Whether the class is a union over nfsstat4."""
    return kind.__name__.endswith("Result") and fields_of(kind)[0] == "status"


def fields_of(kind):
    return [field.name for field in dataclasses.fields(kind)]


def canonical(value):
    """The same value without what is on no wire: the fields of other arms."""
    return type(value).decode(value.encode())


UNIONS = {
    "CallbackSecParms",
    "CreateHow",
    "CreateType",
    "DelegClaim",
    "Delegation",
    "GetDirDelegationOk",
    "LayoutreturnStateid",
    "Layoutrecall",
    "Layoutreturn",
    "Locker",
    "NewOffset",
    "NewSize",
    "NewTime",
    "NoneDelegation",
    "OpenClaim",
    "OpenFlag",
    "Secinfo",
    "SpaceLimit",
    "StateProtectArgs",
    "StateProtectResult",
}
LISTS = {}
LISTS |= {
    "ca_rdma_ird": st.lists(u32, max_size=1),
    "csa_sec_parms": st.lists(values_of(nfs4.CallbackSecParms), max_size=2),
    "entries": st.lists(values_of(nfs4.Entry), max_size=3),
    "ts_stateids": st.lists(values_of(nfs4.StateId), max_size=3),
    "tsr_status_codes": st.lists(st.sampled_from(nfs4.Status), max_size=3),
    "csa_referring_call_lists": st.lists(values_of(nfs4.ReferringCallList), max_size=2),
}
OPERATIONS = [each.name for each in nfs4.Opnum]
CALLBACKS = [each.name for each in nfs4.CbOpnum]


def arguments_of(kind):
    return st.none() if kind is None else values_of(kind)


@pytest.mark.parametrize("name", OPERATIONS)
@per_operation
@given(data=st.data())
def test_arguments_round_trip(name, data):
    arguments = data.draw(arguments_of(nfs4.args_class(name)))
    fixed = nfs4.CompoundArgs(tag=data.draw(texts), minorversion=data.draw(u32))
    encoded = nfs4.encode_args([(name, arguments), ("PUTROOTFH", None)], fixed)
    found, array = nfs4.decode_args(encoded)
    assert found == fixed
    assert array == [(nfs4.Opnum[name], arguments), (nfs4.Opnum.PUTROOTFH, None)]
    assert len(encoded) % 4 == 0


@pytest.mark.parametrize("name", CALLBACKS)
@per_operation
@given(data=st.data())
def test_callback_arguments_round_trip(name, data):
    arguments = data.draw(arguments_of(nfs4.cb_args_class(name)))
    fixed = nfs4.CbCompoundArgs(minorversion=1, callback_ident=data.draw(u32))
    encoded = nfs4.encode_cb_args([(name, arguments)], fixed)
    assert nfs4.decode_cb_args(encoded) == (fixed, [(nfs4.CbOpnum[name], arguments)])


def result_class(name):
    words = "".join(word.capitalize() for word in name.split("_"))
    return getattr(nfs4, f"{words}Result")


@pytest.mark.parametrize("name", OPERATIONS)
@per_operation
@given(data=st.data())
def test_results_round_trip(name, data):
    result = data.draw(values_of(result_class(name)))
    encoded = nfs4.encode_result([(name, result)], tag="t")
    fixed, array = nfs4.decode_result(encoded)
    assert (fixed.status, fixed.tag) == (result.status, "t")
    assert array == [(nfs4.Opnum[name], result)]


@pytest.mark.parametrize("name", OPERATIONS)
@per_operation
@given(data=st.data())
def test_any_octets(name, data):
    body = data.draw(octets)
    number = int(nfs4.Opnum[name]).to_bytes(4, "big")
    for decode in (
        nfs4.decode_args,
        nfs4.decode_result,
        nfs4.decode_cb_args,
        nfs4.decode_cb_result,
    ):
        message = bytes(8) + (1).to_bytes(4, "big") + number + body
        try:
            decode(message)
        except wire.DecodeError as error:
            assert error.code and 0 <= error.offset <= len(message)


@per_operation
@given(st.integers(0, 1 << 40), st.integers(0, 0o7777), texts)
def test_attributes_round_trip(size, mode, owner):
    made = nfs4.fattr(size=size, mode=mode, owner=owner)
    assert nfs4.attributes(made) == {"size": size, "mode": mode, "owner": owner}
    assert nfs4.numbers(made.attrmask) == nfs4.numbers(nfs4.bitmap("size", "mode", "owner"))


def test_signed_numbers_keep_their_sign():
    time = nfs4.Time(seconds=-(1 << 63), nseconds=1)
    assert nfs4.Time.decode(time.encode()) == time
    with pytest.raises(ValueError, match=r"Time\.seconds: 9223372036854775808 is not in"):
        nfs4.Time(seconds=1 << 63).encode()


def test_octets_take_the_place_of_arguments():
    fixed = nfs4.CompoundArgs(minorversion=1)
    legal = nfs4.encode_args([("PUTFH", nfs4.PutfhArgs(object=b"12345678"))], fixed)
    assert nfs4.encode_args([(22, legal[16:])], fixed) == legal
    lied = nfs4.encode_args([("PUTROOTFH", None)], fixed, 7)
    assert lied[8:12] == (7).to_bytes(4, "big")
    with pytest.raises(wire.DecodeError):
        nfs4.decode_args(lied)


@pytest.mark.parametrize(
    "operation, error, sentence",
    [
        (("READ", None), TypeError, "READ arguments: ReadArgs expected, not NoneType"),
        (("NO_OP", None), ValueError, "no operation 'NO_OP'"),
        ("PUTROOTFH", TypeError, "an operation is a tuple"),
        (
            ("PUTFH", nfs4.PutfhArgs(object=bytes(300))),
            ValueError,
            r"PUTFH arguments\.object: more than 256 octets",
        ),
    ],
)
def test_what_is_wrong_is_named(operation, error, sentence):
    with pytest.raises(error, match=sentence):
        nfs4.encode_args([operation], nfs4.CompoundArgs())


def test_items_of_a_compound_are_found():
    operations = [
        ("WRITE", nfs4.WriteArgs(data=b"first")),
        ("WRITE", nfs4.WriteArgs(data=b"second")),
    ]
    body = nfs4.encode_args(operations, nfs4.CompoundArgs(minorversion=1))
    call = rpc.Call(xid=1, program=nfs4.PROGRAM, version=4, procedure=1).encode(body)
    items = nfs.binding.eligible_arguments(call)
    assert [call[at : at + length] for at, length in items] == [b"first", b"second"]
    largest = nfs.largest_compound_reply(call)
    assert largest.bounded and largest.eligible == []
