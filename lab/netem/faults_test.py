"""Tests of the shares of faults: how they are written, and what the guest gets."""

import pytest

from lab import command
from lab.netem.faults import Faults


def test_the_guest_gets_each_share():
    parameters = Faults.parse("2:3:4").parameters()
    assert parameters == "netem_loss=2 netem_duplicate=3 netem_reorder=4"


@pytest.mark.parametrize("text", ["", "1", "1:1", "1:1:1:1", "0:1:1", "1:1:26", "1:1:-5", "1:x:1"])
def test_what_is_not_three_shares_is_refused(text):
    with pytest.raises(ValueError, match="three numbers from 1 to 25"):
        Faults.parse(text)


@pytest.mark.parametrize("action", ["run", "provider-tests"])
def test_the_command_takes_them(action):
    assert command.parse([action, "netem-roce"]).faults == Faults(1, 1, 5)
    assert command.parse([action, "netem-roce", "--faults", "5:5:5"]).faults == Faults(5, 5, 5)


def test_the_command_says_what_it_cannot_take(capsys):
    with pytest.raises(SystemExit):
        command.parse(["run", "netem-roce", "--faults", "much"])
    assert "'much' is not three numbers" in capsys.readouterr().err
