"""Statistics of grants: no STag, base or generation follows from others (docs/direct-access.md)."""

import collections
import itertools

from steertag.nfs import direct
from steertag.suite import case, expect
from ..changed_directory import ChangedDirectory
from ..direct_user import DirectUser, MOST_INLINE

UNRELATED, ONE_BLOCK = "ODAFS-6", "ODAFS-7"
NEEDS = ["direct-access"]
GRANTS, FILES = 10_000, 8
# Grants that one user has at a time, without RETURN: all that a user of ours may have.
MOST_HELD = 512
# Changes of a file between grants of its block.
REVOCATIONS = 64
# Pairs of grants with one difference. Of random numbers no two or three have the same.
MOST_ALIKE = GRANTS // 100
# Percent of the steps from grant to grant that go up. Random numbers stay within two of 50.
UPWARD = range(45, 56)
# Bits by which a base may be its STag, shifted.
SHIFTS = range(33)
ALIGNED_BITS = 3  # of a base, which may be a multiple of 8


@case("server.direct.unrelated", requirements=[UNRELATED, ONE_BLOCK], needs=NEEDS)
def test_unrelated(bench):
    """Ten thousand grants of eight files, each given back. No generation and no pair of STag and base repeats. Neither
    STags nor bases grow, or have one step, and no base follows from its STag."""
    user = DirectUser(bench)
    files = [bench.file(b"\xa5") for _ in range(FILES)]
    reads = [direct.ReadArgs(file=handle, count=0, want_refs=1) for handle in files]
    granted = []
    while len(granted) < GRANTS:
        results = user.result("BATCH", direct.BatchArgs(reads=reads)).results
        found = [each for result in results for each in result.resok4.refs]
        expect.equal(len(found), len(files), UNRELATED, "references after RETURN of all before")
        granted += found
        user.result("RETURN", direct.ReturnArgs(refs=found))
    _expect_no_repeats(granted)
    _expect_random([each.stag for each in granted], "STag")
    _expect_random([each.base for each in granted], "base")
    _expect_independent(granted)


@case("server.direct.unrelated-held", requirements=[UNRELATED, ONE_BLOCK], needs=NEEDS)
def test_unrelated_held(bench):
    """As many references at a time as one user may have. Bases are no neighbours: from one to the next in the order of
    addresses there is no step that many have."""
    user = DirectUser(bench)
    block = user.terms.block_bytes
    most = min(user.terms.most_references, MOST_HELD)
    handle = bench.sparse_file(most * block)
    held = []
    for first in range(0, most, MOST_INLINE):
        want = min(MOST_INLINE, most - first)
        held += user.references(handle, want, first * block)
    expect.at_least(len(held), 1, UNRELATED, "references to a file of many blocks")
    _expect_no_repeats(held)
    for name in ("stag", "base"):
        values = sorted(getattr(each, name) for each in held)
        _expect_no_step(values, max(2, len(held) // 10), name)


@case("server.direct.unrelated-revoked", requirements=[UNRELATED, ONE_BLOCK], needs=NEEDS)
def test_unrelated_revoked(bench):
    """Two files whose blocks are granted and changed in turn, and some references given back. No generation repeats.
    What lies where a revoked frame lay is the same block."""
    place = ChangedDirectory(bench)
    files = [place.make_file(name, b"\xa5") for name in ("first", "second")]
    user = DirectUser(bench)
    granted = []
    for number in range(REVOCATIONS):
        handle = files[number % len(files)]
        reference = user.reference(handle)
        granted.append((reference, handle))
        if number % 3 == 0:
            user.result("RETURN", direct.ReturnArgs(refs=[reference]))
        place.write(handle, bytes([number]))
    _expect_generations([reference for reference, _ in granted])
    homes = collections.defaultdict(set)
    for reference, handle in granted:
        homes[reference.stag, reference.base].add(bytes(handle))
    most = max(len(handles) for handles in homes.values())
    expect.equal(most, 1, UNRELATED, "files whose frames had one STag and base")


def _expect_generations(granted):
    generations = {each.generation for each in granted}
    expect.equal(len(generations), len(granted), ONE_BLOCK, "generations", show=False)
    expect.true(0 not in generations, ONE_BLOCK, "no generation is 0")


def _expect_no_repeats(granted):
    _expect_generations(granted)
    places = {(each.stag, each.base) for each in granted}
    expect.equal(len(places), len(granted), UNRELATED, "places of grants", show=False)


def _expect_no_step(values, most, name):
    steps = collections.Counter(after - before for before, after in itertools.pairwise(values))
    alike = max(steps.values(), default=0)
    expect.at_most(alike, most, UNRELATED, f"grants at one distance ({name})")


def _expect_random(values, name):
    _expect_no_step(values, MOST_ALIKE, name)
    upward = sum(after > before for before, after in itertools.pairwise(values))
    percent = round(100 * upward / (len(values) - 1))
    expect.one_of(percent, list(UPWARD), UNRELATED, f"percent of steps up ({name})")


def _expect_independent(granted):
    """No base is its STag, shifted, beside a fixed number."""
    for shift in SHIFTS:
        between = collections.Counter(
            (((each.base >> shift) - each.stag) & 0xFFFFFFFF) >> ALIGNED_BITS for each in granted
        )
        alike = max(between.values())
        what = f"bases at one distance from their STag, shifted by {shift}"
        expect.at_most(alike, MOST_ALIKE, UNRELATED, what)
