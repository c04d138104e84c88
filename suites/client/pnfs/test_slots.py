"""Slots of the sessions at data servers, which each of them grants for itself (RFC 8881 2.10.6.1, 13.1)."""

import pytest

from steertag.suite import ANY, case, expect
from .striped_server import copied_by_data_servers, NEEDS, SERVERS, StripedServer, use_striped

SLOTS = "RFC8881-2.10.6.1-6"
FEW, MANY = 2, 64
# Credits where there are more slots.
FEW_CREDITS = 4


class Granting(StripedServer):
    """Each server grants as many slots as `slots` says, by the number of the data server, or None. It takes the client
    to have asked for no more."""

    def __init__(self, slots):
        super().__init__()
        self._slots = slots

    def granted(self, server):
        return self._slots.get(server, MANY)

    def _bend_arguments(self, call, name, arguments):
        if name != "CREATE_SESSION":
            return super()._bend_arguments(call, name, arguments)
        fore = arguments.csa_fore_chan_attrs
        fore.ca_maxrequests = min(fore.ca_maxrequests, self.granted(call.server))
        return True


NUMBERS = {
    # At data servers fewer slots than the metadata server has, and than there are credits.
    "fewer": ({number: FEW for number in range(SERVERS)}, {}),
    # The metadata server has few; data servers have more slots than credits.
    "more": ({None: FEW}, {"credits": FEW_CREDITS}),
    # Each has another number.
    "different": ({None: 8, 0: 1, 1: 2, 2: 4}, {}),
}


@case("client.pnfs.slots.{name}", requirements=[SLOTS], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", NUMBERS)
def test_slots(bench, name):
    """Servers grant different numbers of slots. A call is in a slot that its own server has granted."""
    slots, server = NUMBERS[name]
    script = Granting(slots)
    outcome = use_striped(bench, script, **server)
    for call in script.calls:
        if "SEQUENCE" not in call:
            continue
        last = script.granted(call.server) - 1
        what = "the highest slot that is used at a server, at most"
        expect.at_most(call["SEQUENCE"].sa_slotid, last, SLOTS, what, outcome=outcome)
    copied_by_data_servers(bench, script, outcome, SLOTS)
