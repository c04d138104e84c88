"""Why a live run or a capture may lack a finding that the other has: each reason, and just what it excuses."""

import pathlib
import tempfile

from ci.jobs.agreement import common_finding

import capture_files
from steertag.grade.reading import grade_file


def without_what_was_not_told(found, shown, row, own):
    """What a capture shows, without what the judge did not see of a live run, and found nothing at."""
    return [
        each
        for each in shown
        if each in found
        or not (_made_by_a_fault_hook(each, row, own) or _refused_by_us(each, row, own))
    ]


def _made_by_a_fault_hook(found, row, own):
    """Our own side is blamed for more than it gave events of: a fault hook sent raw octets, or something else
    than the event says."""
    if not row.get("sight_lost") or not found.culprit == found.actor == own:
        return False
    return found.number > row["events"][own].get(found.kind, 0)


def _refused_by_us(found, row, own):
    """The target's last Send has no room in our receive, or invalidates an STag that we do not have. Our
    provider ended the connection with a Terminate in place of the event."""
    if found.actor == own or found.kind != "send" or "events" not in row:
        return False
    events = row["events"]
    return "terminate" in events[own] and found.number == events[found.actor].get("send", 0) + 1


def without_what_was_lost(found, shown, sends):
    """What was found live, without findings at Sends behind the capture's first loss. `sends` counts the Sends
    before that loss, by side."""
    return [
        each
        for each in found
        if each in shown or each.kind != "send" or each.number <= sends[each.actor]
    ]


def without_what_did_not_leave(found, shown, own, whole):
    """What was found live, without findings at our own last Send if the capture has only a part of it. The peer
    refused it before all packets had left. The capture has `whole` Sends of our side."""
    return [
        each
        for each in found
        if each in shown
        or not (each.actor == own and each.kind == "send" and each.number == whole + 1)
    ]


def sends_before_loss(path, connection):
    """{side: Sends of the connection before its first loss}, or None if nothing is lost."""
    frames = [each["first_frame"] for each in connection.losses.values()]
    if not frames:
        return None
    link_type, packets = capture_files.read(pathlib.Path(path).read_bytes())
    with tempfile.NamedTemporaryFile(suffix=".pcapng") as head:
        before = packets[: min(frames) - 1]
        head.write(_own_capture("before a loss", link_type, before))
        head.flush()
        ends = connection.client_end, connection.server_end
        for each in grade_file(head.name, []).connections:
            if (each.client_end, each.server_end) == ends:
                return {"client": each.client.sends, "server": each.server.sends}
    return {"client": 0, "server": 0}


def _own_capture(comment, link_type, packets):
    return capture_files.pcapng(comment, link_type, packets, name=capture_files.OWN_INTERFACE)


def without_what_took_a_place(shown, row):
    """A judge keeps so many findings. Those that no capture shows took the places of as many others, which are
    the last that the capture shows."""
    if not row.get("dropped"):
        return shown
    found, unseen = common_finding.live(row)
    return shown[: len(found)] + shown[len(found) + unseen :]
