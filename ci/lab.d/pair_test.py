"""Tests of the command that a machine with the host's files runs."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import pair  # noqa: E402


def test_the_command_runs_in_the_project_with_its_arguments_as_they_are(tmp_path, monkeypatch):
    packed = {}

    def extend(root, directory, whole):
        packed["run"] = (directory / "lab/program/run").read_text()
        return whole

    monkeypatch.setattr(pair, "extend", extend)
    command = ["sh", "-c", 'printf "<%s>" "$@"; exit 7', "sh", "a b", "it's", "$HOME"]
    pair.pack(tmp_path / "root.cpio", command, tmp_path / "new")
    # The same line without the change of root.
    line = packed["run"].replace("{ chroot /host ", "{ pwd; ")
    line = line.replace("/tmp/status", str(tmp_path / "status"))
    shown = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 7
    assert shown.stdout == f"{tmp_path}\n<a b><it's><$HOME>"
    assert f"cd {pair.PROJECT}" in packed["run"]
