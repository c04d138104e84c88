"""`steertag grade` on captures that gzip compressed."""

import gzip
import json
import subprocess
import sys

import pytest

from steertag import cli
from steertag.grade import compressed
from steertag.testing import grade_captures

LIMIT_S = 120


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    """The paths of a capture with a violation and of its compressed copy."""
    folder = tmp_path_factory.mktemp("captures")
    plain = grade_captures.violating(folder / "violating.pcapng")
    packed = folder / "violating.pcapng.any"  # the name does not count
    packed.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    return plain, packed


def grade(capsys, *arguments):
    status = cli.main(["grade", *map(str, arguments)])
    return status, *capsys.readouterr()


def test_a_compressed_capture_is_graded_like_the_plain_one(captures, capsys):
    plain, packed = captures
    status, out, err = grade(capsys, packed)
    assert (status, err) == (1, "")
    assert out.replace(str(packed), str(plain)) == grade(capsys, plain)[1]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("piped", [False, True])
def test_standard_input_may_be_compressed(captures, packed, piped):
    command = [sys.executable, "-m", "steertag", "grade", "-"]
    with open(captures[packed], "rb") as file:
        how = {"input": file.read()} if piped else {"stdin": file}
        done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, **how)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"standard input: " in done.stdout


def test_a_file_cut_short_is_graded_up_to_there(captures, capsys, tmp_path):
    cut = tmp_path / "cut.gz"
    cut.write_bytes(captures[1].read_bytes()[:-12])
    status, out, err = grade(capsys, cut, "--json", tmp_path / "out.json")
    assert status == 2
    assert f"{cut}: gzip: " in err
    assert "1 violation" in out
    (file,) = json.loads((tmp_path / "out.json").read_text())["files"]
    assert (file["status"], file["error"]["fault"]) == ("damaged", "compressed")


@pytest.mark.parametrize(
    "content, words",
    [
        (gzip.compress(b"no capture at all" * 9, mtime=0), "begins as neither pcap nor pcapng"),
        (b"\x1f\x8b" + bytes(60), "gzip: "),
        (b"\x1f\x8b", "gzip: "),
    ],
)
def test_what_holds_no_capture_names_the_file(capsys, tmp_path, content, words):
    path = tmp_path / "bad.gz"
    path.write_bytes(content)
    status, _, err = grade(capsys, path)
    assert status == 2
    assert err.startswith(f"steertag: {path}: ")
    assert words in err
    assert "/dev/fd" not in err


def test_an_annotated_copy_is_that_of_the_plain_capture(captures, capsys, tmp_path):
    for path, name in zip(captures, ("a.pcapng", "b.pcapng"), strict=True):
        assert grade(capsys, path, "--annotate", tmp_path / name)[0] == 1
    assert (tmp_path / "a.pcapng").read_bytes() == (tmp_path / "b.pcapng").read_bytes()
    assert len(list(tmp_path.iterdir())) == 2, "the decompressed copy is gone"


def test_a_large_capture_is_read_by_more_than_one_piece(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(compressed, "_CHUNK_BYTES", 16)
    path = grade_captures.violating(tmp_path / "violating.pcapng")
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    assert grade(capsys, packed)[0] == 1


def test_markdown_names_what_was_broken(captures, capsys):
    status, out, _ = grade(capsys, captures[0], "--markdown")
    assert status == 1
    assert "### 1. RFC8166-3.3.1-5 (MUST NOT), by the server" in out
    assert "<https://www.rfc-editor.org/rfc/rfc8166#section-3.3.1>" in out
    assert "- observed: rdma\\_credit 0" in out


def test_markdown_and_json_do_not_both_print(captures, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["grade", str(captures[0]), "--markdown", "--json", "-"])
    assert ended.value.code == 2
    assert "both print" in capsys.readouterr().err
