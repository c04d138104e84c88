"""The captures of fixtures/: there is one of each deviation, and a script makes the broken ones.

The texts beside them are what `steertag grade` and tshark print."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pytest

from ci.jobs.fixtures import case_captures, deviation_table, golden_texts, live_judgements

import capture_files
import internet
import iwarp_stream
import roce_packet

PROJECT = pathlib.Path(__file__).resolve().parents[3]
CAPTURES = PROJECT / "fixtures" / "captures"
SITUATIONS = CAPTURES / "situations"

RENEW_SITUATIONS = (
    "renew them with fixtures/captures/situations/make_situations.py, and look at what has changed"
)
RENEW_BROKEN = "renew them with `ci/fixtures captures broken`, and look at what has changed"
RENEW_TEXT = "renew it with `ci/fixtures texts {}`, and look at what has changed"
SCRIPT_LIMIT_S = 120
NEED_PLUGIN = "STEERTAG_NEED_PLUGIN"
EVERY_TEXT = "STEERTAG_EVERY_TEXT"
MOST_BYTES_A_DEVIATION = 20 << 10  # on average, with the text
MOST_BYTES_OF_OTHERS = 3 << 20
LINUX = sorted(path.name for path in CAPTURES.glob("linux-*-v*.pcapng"))


def comments(path):
    """The comments of a capture's section, as one text."""
    data = path.read_bytes()
    (length,) = capture_files.struct.unpack_from("<I", data, 4)
    return data[24:length].decode(errors="replace")


def test_every_row_of_the_table_names_a_deviation_and_has_its_capture():
    """`ci/fixtures lacking` lists the rows of the judge without a capture."""
    table = deviation_table.load()
    for role in deviation_table.PROGRAMS:
        known = set(deviation_table.requirements(role))
        listed = set(table.cases[role])
        assert listed <= known, f"the {role} has no deviation {sorted(listed - known)}"
    files = set(deviation_table.DEVIATIONS.rglob("*.pcapng"))
    wanted = {deviation_table.capture(*pair) for pair in table.pairs()}
    assert files == wanted, "`ci/fixtures captures NAME` makes those that are missing"
    assert all(table.unseen.values()), "a deviation without a capture needs a reason"


def test_a_capture_of_a_deviation_says_which_case_found_what():
    table = deviation_table.load()
    for each in case_captures.deviating(table, []):
        said = comments(each.path)
        assert f"case {each.case}" in said, f"{each.deviation} shows another case"
        assert re.search(
            r"verdict (fail|warn|crash|hang)", said
        ), f"{each.deviation} shows no defect"


def test_a_capture_of_what_conforms_is_of_a_case_that_passed():
    wanted = list(case_captures.conforming())
    assert {each.path for each in wanted} == set((CAPTURES / "conforming").glob("*.pcapng"))
    assert all("verdict pass" in comments(each.path) for each in wanted)


@pytest.mark.parametrize(
    "captures",
    [CAPTURES / "conforming", *CAPTURES.glob("deviations/*/")],
    ids=lambda path: path.name,
)
def test_what_was_judged_live_is_kept_beside_the_captures_of_cases(captures):
    kept = live_judgements.load(captures)
    assert set(kept) == {path.stem for path in captures.glob("*.pcapng")}
    for name, case in kept.items():
        said = comments(captures / f"{name}.pcapng")
        assert f"case {case['id']}" in said, f"what is kept of {name} is of another case"


@pytest.mark.parametrize(
    "folder, script, renew",
    [
        (CAPTURES / "broken", CAPTURES / "make_broken.py", RENEW_BROKEN),
        (SITUATIONS, SITUATIONS / "make_situations.py", RENEW_SITUATIONS),
    ],
    ids=["broken", "situations"],
)
def test_made_captures_are_what_their_script_makes(tmp_path, folder, script, renew):
    command = [sys.executable, "-B", script, tmp_path]
    subprocess.run(command, check=True, capture_output=True, timeout=SCRIPT_LIMIT_S)
    kept = {path.name for path in folder.glob("*.pcap*") if path.suffix != ".txt"}
    assert {path.name for path in tmp_path.iterdir()} == kept, renew
    for path in sorted(tmp_path.iterdir()):
        same = path.read_bytes() == (folder / path.name).read_bytes()
        assert same, f"{path.name} differs: {renew}"


def octets_below(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_the_captures_stay_small():
    deviations = octets_below(deviation_table.DEVIATIONS)
    most = MOST_BYTES_A_DEVIATION * len(list(deviation_table.load().pairs()))
    assert deviations < most, f"{deviations} octets of captures and texts of deviations"
    others = octets_below(CAPTURES) - deviations
    assert others < MOST_BYTES_OF_OTHERS, f"{others} octets of other captures and texts"


@pytest.mark.parametrize("name", LINUX)
def test_linux_is_recorded_from_its_connections_beginning_to_the_end(name):
    _, frames = capture_files.read((CAPTURES / name).read_bytes())
    assert all(frame.wire_length == len(frame.data) for frame in frames)
    packets = [found for found in (internet.packet(frame.data) for frame in frames) if found]
    if "siw" in name:
        ours = [iwarp_stream.segment(0, each, 20049) for each in packets if 20049 in each.ports()]
        assert ours[0].flags == internet.SYN
        assert any(each.payload.startswith(b"MPA ID Req") for each in ours)
        assert sum(bool(each.flags & internet.FIN) for each in ours) == 2
        return
    ours = [roce_packet.Transport(each) for each in packets if each.protocol == internet.UDP]
    management = [each for each in ours if each.opcode == roce_packet.UD_SEND_ONLY]
    # Attribute of the connection manager's MAD, behind base and datagram headers: REQ, REP, RTU, DREQ, DREP.
    kinds = [int.from_bytes(each.octets[20 + 16 : 20 + 18], "big") for each in management]
    assert kinds == [0x10, 0x13, 0x14, 0x15, 0x16]
    assert all(roce_packet.rebuilt(each.packet, each.octets).payload for each in ours)


@pytest.mark.parametrize("name", [name for name in LINUX if "v4.1" in name])
def test_linux_recalls_a_delegation(name):
    assert "CB_RECALL" in comments(CAPTURES / name)


def test_the_crc_of_a_rebuilt_packet_is_that_of_linux():
    _, frames = capture_files.read((CAPTURES / "linux-6.1-rxe-v3.pcapng").read_bytes())
    ours = [frame.data for frame in frames if roce_packet.is_ours(frame.data)]
    assert ours
    for data in ours:
        invariant = roce_packet.invariant(data[internet.ETHERNET_BYTES : -4], True)
        assert invariant == data[-4:]


def test_the_crc_of_an_fpdu_is_that_of_our_own_provider():
    path = CAPTURES / "conforming" / "server.layout.mixed-forms.pcapng"
    _, frames = capture_files.read(path.read_bytes())
    head = bytes(12) + b"\x08\x00"
    segments = [
        internet.segment(0, internet.packet(head + frame.data), iwarp_stream.PORT)
        for frame in frames
    ]
    streams = [each.payload for each in segments if each.payload]
    fpdus = [each for each in streams if not iwarp_stream.is_startup(each)]
    assert fpdus and all(iwarp_stream.crc(each[:-4]) == each[-4:] for each in fpdus)


@pytest.mark.parametrize("capture", golden_texts.all_captures(), ids=lambda path: path.name)
def test_grade_prints_the_golden_text(capture):
    path = golden_texts.text_path(capture)
    assert path.exists(), f"{path.name} is missing: {RENEW_TEXT.format(capture.name)}"
    kept, _ = golden_texts.parts(path.read_text())
    assert golden_texts.grade(capture) == kept, RENEW_TEXT.format(capture.name)


def test_tshark_is_there_where_it_must_be():
    """Without it the texts of tshark are skipped, which ci/check does not put up with."""
    if not os.environ.get(NEED_PLUGIN):
        pytest.skip(f"{NEED_PLUGIN} is not set, as ci/check sets it")
    assert golden_texts.why_no_tshark() is None


@pytest.fixture(scope="module")
def wireshark():
    if reason := golden_texts.why_no_tshark():
        pytest.skip(reason)
    # Not one of pytest's own, which no other user can use.
    with tempfile.TemporaryDirectory(prefix="steertag-fixtures-") as home:
        yield golden_texts.wireshark(home)


def shown_captures():
    """tshark starts for each of them. Those of deviations are most, and wait for ci/nightly: ci/agreement compares
    what the plugin finds in them, and reads many at a time."""
    every = golden_texts.all_captures()
    if os.environ.get(EVERY_TEXT):
        return every
    return [path for path in every if deviation_table.DEVIATIONS not in path.parents]


@pytest.mark.parametrize("capture", shown_captures(), ids=lambda path: path.name)
def test_tshark_shows_the_golden_text(capture, wireshark):
    _, kept = golden_texts.parts(golden_texts.text_path(capture).read_text())
    assert golden_texts.shown(wireshark, capture) == kept, RENEW_TEXT.format(capture.name)


def test_no_text_is_left_behind():
    assert golden_texts.stale() == []
