"""What a client owes the metadata server by its close: the size, and layouts (RFC 8881 13.10, 18.43.3)."""

import pytest

from steertag.suite import ANY, case, client_kinds as kinds, expect
from steertag.suite.nfs_client.file_layout import read_layout
from .striped_server import copied_by_data_servers, NEEDS, NFS4, StripedServer, use_striped

SIZE, ON_CLOSE = "RFC8881-13.10-2", "RFC8881-18.43.3-9"
OF_FILE = NFS4.LayoutreturnType.LAYOUTRETURN4_FILE


class OldSize(StripedServer):
    """A metadata server that learns of octets at data servers by LAYOUTCOMMIT alone."""

    def size(self, file):
        """That of a file as the metadata server knows it. A client may give it by SETATTR too."""
        size = 0
        for call in self.of("LAYOUTCOMMIT", "SETATTR", "WRITE"):
            if call.file != file:
                continue
            if call.succeeded("SETATTR"):
                size = NFS4.attributes(call["SETATTR"].obj_attributes).get("size", size)
            if call.succeeded("WRITE"):
                size = max(size, call["WRITE"].offset + call.result("WRITE").count)
            if call.succeeded("LAYOUTCOMMIT"):
                last = call["LAYOUTCOMMIT"].loca_last_write_offset
                size = max(size, last.no_offset + 1 if last.no_newoffset else 0)
        return size

    def written(self):
        """{filehandle at the metadata server: octets up to the last one that is at data servers}"""
        files = {}
        for got in self.layouts:
            for each in got.result("LAYOUTGET").logr_layout:
                handles = read_layout(each.lo_content.loc_body).handles
                files.update(dict.fromkeys(map(bytes, handles), got.file))
        ends = {}
        for call in self.at_data_servers("WRITE"):
            file = files.get(call.handle)
            if file is not None and call.succeeded("WRITE"):
                end = call["WRITE"].offset + call.result("WRITE").count
                ends[file] = max(ends.get(file, 0), end)
        return ends


@case("client.pnfs.layoutcommit.size", requirements=[SIZE], needs=NEEDS, over=ANY)
def test_size(bench):
    """A file is written at data servers. When the client is done, LAYOUTCOMMIT, or another call, has given the file its
    size at the metadata server."""
    script = OldSize()
    outcome = use_striped(bench, script)
    expect(outcome, SIZE, must=[kinds.COMPLETED])
    written = script.written()
    if not written:
        bench.not_testable("the client writes to the metadata server")
    for file, end in written.items():
        what = "the size of the copy that the client has given to the metadata server"
        expect.at_least(script.size(file), end, SIZE, what, outcome=outcome)


def _open_of(name, call):
    """What OPEN and CLOSE of the same open have in common: `other` of its stateid. A second OPEN of an open-owner gives
    the same one, and one CLOSE ends both."""
    found = call.result(name).stateid if name == "OPEN" else call[name].open_stateid
    return bytes(found.other)


def _without_returned(held, call):
    """The files whose layouts LAYOUTRETURN leaves: that of all, or of a file system, has no filehandle of a file."""
    if call["LAYOUTRETURN"].lora_layoutreturn.lr_returntype != OF_FILE:
        return set()
    return held - {call.file}


def _closes_of_held(script):
    """Last CLOSEs of files whose layouts were held then, as the metadata server knew them."""
    held, opens, found = set(), {}, []
    for call in script.of("LAYOUTGET", "LAYOUTRETURN", "OPEN", "CLOSE"):
        file = call.file
        for name in filter(call.succeeded, call.names):
            if name == "OPEN":
                opens.setdefault(file, set()).add(_open_of(name, call))
            if name == "LAYOUTGET":
                held.add(file)
            if name == "LAYOUTRETURN":
                held = _without_returned(held, call)
            if name == "CLOSE":
                left = opens.setdefault(file, set())
                left.discard(_open_of(name, call))
                if file in held and not left:
                    found.append(call)
    return found


@case("client.pnfs.return-on-close.{name}", requirements=[ON_CLOSE], needs=NEEDS, over=ANY)
@pytest.mark.parametrize("name", ["true", "false"])
def test_return_on_close(bench, name):
    """LAYOUTGET says whether the layout is to go back before the file is closed. If it is, LAYOUTRETURN stands before
    the last CLOSE, in the same COMPOUND or an earlier one. If not, the client may keep the layout.
    """
    wish = name == "true"

    def say(_call, result):
        if int(result.status) == 0:
            result.resok4.logr_return_on_close = wish
        return result

    script = StripedServer(results={"LAYOUTGET": say})
    outcome = use_striped(bench, script)
    if wish:
        what = "CLOSEs of files whose layouts have not gone back"
        expect.equal(len(_closes_of_held(script)), 0, ON_CLOSE, what, outcome=outcome)
    copied_by_data_servers(bench, script, outcome, ON_CLOSE)
    if not script.of("CLOSE"):
        bench.not_testable("the client does not close the file")
