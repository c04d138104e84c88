"""The pre-flight: what would hinder the cases of a run ends it, with one sentence that names the remedy."""

import subprocess
import sys

import pytest

from steertag.suite.nfs_client import rpc_programs
from steertag.suite.run.case_session import Unreachable
from steertag.suite.run.profile import parse
from steertag.suite.tcp import nfs_port

from scripted_programs import HANDLE, mounting, NULL, programs, root_gives, RPCBIND2, words
from steertag_command import bundled, RUN_LIMIT_S
from suite_sessions import bench_of, look_over

PORT = 20048  # of MOUNT
NOENT, ACCES, STALE, NOSPC, ROFS = 2, 13, 70, 28, 30
OK = mounting(0)
NO_MOUNT = "MOUNT is not served where the suite asks (PROG_UNAVAIL): give "
SENTENCES = {
    "mountd": (
        OK,
        "/srv",
        "this port serves MOUNT, and not NFS: give the port of NFS in the URL (2049 is usual over TCP, "
        "20049 over RDMA)",
    ),
    "rpcbind": ({(*RPCBIND2, 0): b""}, "/srv", "this port serves rpcbind, and not NFS: give the"),
    "unknown": ({(99, 1, 0): b""}, "/srv", "this port serves no NFS: give the port of NFS in the"),
    "version-two": (
        {(100003, 2, 0): b""},
        "/srv",
        "it offers versions 2 to 2 of NFS: the suite ne",
    ),
    "no-mount": (
        NULL,
        "/srv",
        f"{NO_MOUNT}its port over TCP by --mount-port, or `mount:` in a profile",
    ),
    "no-path": (
        NULL | mounting(NOENT, b"/srv", b"/home"),
        "",
        "the URL names no export, and MOUNT of / gave MNT3ERR_NOENT: add its path (it exports /srv, "
        "/home)",
    ),
    "wrong-path": (
        NULL | mounting(NOENT, b"/srv"),
        "/serv",
        "MOUNT of /serv gave MNT3ERR_NOENT: name an export in the URL (it exports /srv)",
    ),
    "refused": (
        NULL | mounting(ACCES, b"/srv"),
        "/srv",
        "MOUNT of /srv gave MNT3ERR_ACCES: export it to this host, also to ports above 1023 (insecu",
    ),
    "root": (
        OK | root_gives(FSINFO=STALE),
        "/srv",
        "the root of /srv gave NFS3ERR_STALE: mend the export, or say `supports: {export: false}` in",
    ),
    "read-only": (
        OK | root_gives(MKDIR=ROFS),
        "/srv",
        "the export /srv is read-only (NFS3ERR_ROFS): export it with write access (rw)",
    ),
    "squashed": (
        OK | root_gives(MKDIR=ACCES),
        "/srv",
        "user 0, group 0 may not write to /srv (NFS3ERR_ACCES): export it with no_root_squash, or",
    ),
    "full": (
        OK | root_gives(MKDIR=NOSPC),
        "/srv",
        "the export /srv has no room (NFS3ERR_NOSPC): fr",
    ),
}


@pytest.fixture(autouse=True)
def no_rpcbind(monkeypatch):
    """The rpcbind of this machine is no part of a test."""
    monkeypatch.setattr(rpc_programs, "RPCBIND_PORT", 1)


@pytest.mark.parametrize("name", SENTENCES)
def test_what_hinders_is_one_sentence_with_the_remedy(tmp_path, name):
    table, path, sentence = SENTENCES[name]
    with programs(table) as port:
        url = f"tcp://127.0.0.1:{port}{path}"
        with pytest.raises(Unreachable) as found:
            look_over(tmp_path, url)
    text = str(found.value)
    assert text.startswith(f"target {url}: {sentence}"), text
    assert found.value.record is None and "\n" not in text and "Traceback" not in text


@pytest.mark.parametrize(
    "table, words_before",
    [
        (NULL, f"{NO_MOUNT}--mount-port {PORT}, as its rpcbind says"),
        (OK, f"the URL ({PORT}, by its "),
    ],
)
def test_rpcbind_tells_the_port(tmp_path, monkeypatch, table, words_before):
    with programs({(*RPCBIND2, 3): words(PORT)}) as rpcbind, programs(table) as port:
        monkeypatch.setattr(rpc_programs, "RPCBIND_PORT", rpcbind)
        with pytest.raises(Unreachable) as found:
            look_over(tmp_path, f"tcp://127.0.0.1:{port}/srv")
    assert words_before in str(found.value)


def test_a_handle_that_is_old(tmp_path):
    profile = parse({"mount": {"handle": HANDLE.hex()}})
    with programs(root_gives(FSINFO=STALE)) as port, pytest.raises(Unreachable) as found:
        look_over(tmp_path, f"tcp://127.0.0.1:{port}/", profile=profile)
    assert "`handle:` of the profile is no root of an export (NFS3ERR_STALE)" in str(found.value)


def test_what_the_profile_denies_is_not_asked_for(tmp_path):
    profile = parse({"supports": {"export": False, "nfs41": False}})
    with programs(NULL) as port:
        look_over(tmp_path, f"tcp://127.0.0.1:{port}/", profile=profile)


@pytest.mark.parametrize("over", ["rdma", "tcp"])
def test_a_server_that_has_all_is_left_as_it_was(tmp_path, over):
    with bundled(tmp_path, over=over) as url:
        bench = bench_of(look_over(tmp_path, url))
        conn = bench.connect()
        first = {"cookie": 0, "cookieverf": bytes(8), "count": 1000}
        listed = conn.exchange(conn.nfs_call("READDIR", dir=bench.root, **first))
        bench.close()
    names = {entry.name for entry in listed.result.ok.entries}
    assert names - {".", ".."} == set()


def test_version_four_finds_no_path(tmp_path):
    with bundled(tmp_path) as url:
        bench = bench_of(look_over(tmp_path, url))
        profile = parse({"mount": {"handle": bench.root.hex()}})
        bench.close()
        with pytest.raises(Unreachable) as found:
            look_over(tmp_path, url.replace("/export", "/nowhere"), profile=profile)
    sentence = (
        "NFS version 4.1 finds no /nowhere (NFS4ERR_NOENT): export it to version 4 by the same path"
    )
    assert sentence in str(found.value)


def test_a_twin_that_is_another_server(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    with bundled(tmp_path) as url, bundled(tmp_path / "other", over="tcp") as other:
        with pytest.raises(Unreachable) as found:
            look_over(tmp_path, url, profile=parse({"tcp": other}))
        assert f"{other} is another server: the root's handle of {url} is NFS3ERR_" in str(
            found.value
        )
        assert str(found.value).endswith("there: correct --tcp, or `tcp:` in the profile")
        port = int(other.rpartition(":")[2].partition("/")[0])
        monkeypatch.setattr(nfs_port, "NFS_PORT", port)
        session = look_over(tmp_path, url, try_tcp=True)
    assert session.tcp_found == "", "one that the run finds by itself is not used"


def run(*words_of_command):
    """The ended command: `steertag test`."""
    command = [sys.executable, "-m", "steertag", "test", *words_of_command]
    return subprocess.run(command, capture_output=True, text=True, timeout=RUN_LIMIT_S)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_run_ends_before_its_first_case(tmp_path, workers):
    export = tmp_path / "export"
    export.mkdir()
    with bundled(tmp_path, "--export", str(export), "--read-only", over="tcp") as url:
        done = run(url, "--report", str(tmp_path / "report"), *workers)
    assert done.returncode == 4, done.stdout + done.stderr
    (line,) = [each for each in done.stderr.splitlines() if each]
    assert line.startswith(f"ERROR: target {url}: the export /export is read-only (NFS3ERR_ROFS): ")
    assert not (tmp_path / "report" / "report.json").exists()


def test_the_port_of_mount_is_an_option(tmp_path):
    """The sentence that names the port shows that MOUNT was asked there."""
    with programs(NULL) as nfs, programs(mounting(NOENT, b"/srv")) as mountd:
        url = f"tcp://127.0.0.1:{nfs}/serv"
        done = run(url, "--mount-port", str(mountd), "--report", str(tmp_path / "report"))
    assert done.returncode == 4, done.stdout + done.stderr
    assert "name an export in the URL (it exports /srv)" in done.stderr


@pytest.mark.parametrize(
    "arguments, profile, sentence",
    [
        (["--mount-port", "0"], "{}", "--mount-port is a number from 1 to 65535"),
        ([], "export: /b", "URL names /a, and `export:` of the profile /b: leave one out"),
    ],
)
def test_wrong_options(tmp_path, arguments, profile, sentence):
    path = tmp_path / "profile.yaml"
    path.write_text(profile)
    done = run("tcp://127.0.0.1:1/a", "--profile", str(path), *arguments)
    assert done.returncode == 4 and sentence in done.stderr, done.stdout + done.stderr
