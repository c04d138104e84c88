"""Compares what `steertag grade` finds in captures with what the Wireshark plugin shows of them.

The plugin has to show the same findings in the same frames, in one pass and in two."""

import collections
import concurrent.futures

from ci.jobs.agreement.agreement_result import CannotCompare, Result

import capture_files
import roce_packet
import tshark
from steertag.grade.reading import grade_file

# Captures that one tshark reads, put together in one file: it takes longer to start than to read ten. Each has its own
# number in an octet of the addresses.
BATCH = 160
ETHERNET_BYTES = 14
# The judge asserts these where it sees every connection of a user of direct access. In a merged file another part may
# lack some.
NEED_EVERY_CONNECTION = (
    "read_shows_its_frame_alone",
    "read_shows_no_foreign_frame",
    "references_follow_the_connection",
    "ticket_was_given",
)
# A merged file is some megabytes; on a loaded machine.
TSHARK_LIMIT_S = 300
# Captures of a link type that this version of Wireshark has no name for: no dissector gets to know it.
UNKNOWN_TO_WIRESHARK = {"roce-infiniband"}
FIELDS = (
    "frame.number",
    "frame.encap_type",  # of packets: Wireshark shows some other blocks of files as frames too
    "steertag.finding.frame",
    "steertag.finding.connection",
    "steertag.finding.id",
    "steertag.rule",
    "steertag.finding.culprit",
)


def wireshark(home):
    """Wireshark's programs with the plugin, in an empty directory that is then another user's too."""
    if not list(tshark.plugins().glob("*/epan/steertag.so")):
        raise CannotCompare(f"{tshark.plugins()}: no plugin; build with -DSTEERTAG_DISSECTOR=ON")
    home.chmod(0o777)
    return tshark.Wireshark(home)


def shown(programs, path, passes, damaged=False):
    """(packets that tshark read, [(frame, connection, id, rule, culprit)] that the plugin shows). Of a damaged
    file it is what tshark reads before it gives up."""
    columns = [argument for name in FIELDS for argument in ("-e", name)]
    command = ["tshark", "-n", *(["-2"] if passes == 2 else []), "-r", path, "-T", "fields"]
    output = programs.run(*command, *columns, limit_s=TSHARK_LIMIT_S)
    if output.status != 0 and not (damaged and path.name in output.errors):
        raise CannotCompare(f"tshark {path}: status {output.status}: {output.errors}")
    packets, found = 0, []
    for line in output.text.splitlines():
        own, encapsulation, *lists = line.split("\t")
        packets += bool(encapsulation)
        for frame, *rest in zip(*(each.split(",") for each in lists)):
            if not frame:
                continue
            if passes == 2 and frame != own:
                found.append(("shown at", own, *rest))
            found.append((int(frame), *rest))
    return packets, found


def rows_of(rows):
    """The same of what grade found in a file."""
    return [
        (each.frame, str(each.connection), each.requirement.id, each.rule, each.culprit)
        for each in rows
    ]


def placed(rows, first_frame=0):
    """The same without connections, which a merged file may number in another order. Frames are counted behind
    others."""
    return [
        (first_frame + each.frame, each.requirement.id, each.rule, each.culprit) for each in rows
    ]


def compare(graded, look):
    """Sentences about where the plugin does not show what grade finds; `look(passes)` as `shown`."""
    problems = []
    for passes, name in ((1, "one pass"), (2, "two passes")):
        # In one pass nothing is shown of what is known only behind the last packet.
        rows = [each for each in graded.rows if passes == 2 or each.known_frame != 0]
        packets, found = look(passes)
        if packets != graded.packets:
            problems.append(f"{name}: tshark reads {packets} packets, grade {graded.packets}")
        listed = without_unlisted(rows_of(rows), found, graded.connections)
        problems += [f"{name}: {each}" for each in difference(rows_of(rows), listed)]
    return problems


def without_unlisted(wanted, found, connections):
    """What the plugin shows, without what grade counts and does not list. A connection with too many findings
    may show as many more as grade counted."""
    most = {str(each.number): each.findings_dropped for each in connections}
    left, kept = collections.Counter(wanted), []
    for each in found:
        number = each[1]
        if left[each] > 0:
            left[each] -= 1
        elif most.get(number, 0) > 0:
            most[number] -= 1
            continue
        kept.append(each)
    return kept


def difference(wanted, found):
    """Sentences on what only one has."""
    wanted, found = collections.Counter(wanted), collections.Counter(found)
    hidden = [f"the plugin does not show {each}" for each in (wanted - found).elements()]
    return hidden + [f"only the plugin shows {each}" for each in (found - wanted).elements()]


def merge(paths, target):
    """One capture after the other, as one file. Each gets two hosts of its own. The captures of cases have the
    same ports and first sequence numbers, and would look like one connection."""
    writer, link_types, blocks = capture_files.Pcapng(), [], []
    for number, path in enumerate(paths):
        link_type, frames = capture_files.read(path.read_bytes())
        if link_type not in link_types:
            link_types.append(link_type)
        interface = link_types.index(link_type)
        for frame in frames:
            moved = frame.with_data(elsewhere(frame.data, link_type, number))
            blocks.append(writer.packet(moved, interface))
    own = capture_files.OWN_INTERFACE
    interfaces = [writer.interface(each, name=own) for each in link_types]
    target.write_bytes(b"".join([writer.section(), *interfaces, *blocks]))
    target.chmod(0o644)


def elsewhere(octets, link_type, number):
    """The packet with the second octet of both IPv4 addresses changed. The invariant CRC of a RoCE packet stays
    right if it was right."""
    at = {capture_files.RAW_IP: 0, capture_files.ETHERNET: ETHERNET_BYTES}[link_type]
    link, packet = octets[:at], bytearray(octets[at:])
    if packet[0] >> 4 != 4:
        raise CannotCompare("a case's capture has another packet than IPv4")
    was_right = roce_packet.has_right_crc(packet)
    for address in (12, 16):
        packet[address + 1] = number
    return link + (roce_packet.with_right_crc(packet) if was_right else bytes(packet))


def compare_merged(paths, merged):
    """Sentences about where grade does not find in a merged file what it finds in each of its parts."""
    wanted, frames = [], 0
    for path in paths:
        part = grade_file(str(path), [])
        wanted += placed(part.rows, frames)
        frames += part.packets
    wanted, found = collections.Counter(wanted), collections.Counter(placed(merged.rows))
    lost = [each for each in (wanted - found).elements() if each[2] not in NEED_EVERY_CONNECTION]
    lost = [f"merged, grade does not find {each}" for each in lost]
    return lost + [f"only merged, grade finds {each}" for each in (found - wanted).elements()]


def results_of_batches(paths, programs, jobs):
    """The Result of each batch of captures of cases."""
    batches = [paths[at : at + BATCH] for at in range(0, len(paths), BATCH)]

    def one(number):
        batch, target = batches[number], programs.home / f"batch-{number}.pcapng"
        merge(batch, target)
        graded = grade_file(str(target), [])
        problems = compare_merged(batch, graded)
        problems += compare(graded, lambda passes: shown(programs, target, passes))
        target.unlink()
        return Result(f"plugin {batch[0].stem} to {batch[-1].stem}", problems, len(graded.rows))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, range(len(batches)))


def results_of_singles(paths, programs, jobs):
    """The Result of each capture that no case left, damaged ones too."""

    def one(path):
        graded, copy = grade_file(str(path), []), programs.readable(path)
        damaged = graded.error is not None
        if path.stem in UNKNOWN_TO_WIRESHARK:
            read = shown(programs, copy, 2)
            problems = ["Wireshark knows it by now: compare it"] if read[1] else []
        else:
            problems = compare(graded, lambda passes: shown(programs, copy, passes, damaged))
        copy.unlink()
        return Result(f"fixture {path.stem}", problems, len(graded.rows))

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, paths)
