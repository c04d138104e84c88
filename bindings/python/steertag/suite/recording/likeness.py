"""Where in octets a run of others stands, that may have been blanked in places: cases leave out of what they
compare what time changes."""

# Octets that are looked for as they are; plainer ones stand anywhere.
_PIECE = 16
_FEWEST_DIFFERENT = 4
# Pieces, and places of each, that are tried.
MOST_PIECES = 32
MOST_PLACES = 8
# Of the octets at most this part may be blanked.
MOST_BLANKED = 1 / 4


def find(part, whole):
    """(start, blanks): `part` stands in `whole` at `start` but for the ranges [from, to] in `blanks`, as few
    octets as possible; None if it does not."""
    best = None
    for start in _starts(part, whole):
        blanks = _different(part, whole[start : start + len(part)])
        blanked = sum(end - begin for begin, end in blanks)
        if blanked <= MOST_BLANKED * len(part) and (best is None or blanked < best[0]):
            best = blanked, start, blanks
    return None if best is None else best[1:]


def _starts(part, whole):
    """Places where the part may begin, each once."""
    tried = set()
    for at in range(0, min(len(part) - _PIECE + 1, MOST_PIECES * _PIECE), _PIECE):
        piece = part[at : at + _PIECE]
        if len(set(piece)) < _FEWEST_DIFFERENT:
            continue
        place = whole.find(piece)
        for _ in range(MOST_PLACES):
            if place < 0:
                break
            start = place - at
            if start >= 0 and start + len(part) <= len(whole) and start not in tried:
                tried.add(start)
                yield start
            place = whole.find(piece, place + 1)


def _different(one, other):
    """Ranges [from, to] in which two runs of octets of one length differ."""
    ranges = []
    if one == other:
        return ranges
    for place, (mine, theirs) in enumerate(zip(one, other)):
        if mine == theirs:
            continue
        if ranges and ranges[-1][1] == place:
            ranges[-1][1] = place + 1
        else:
            ranges.append([place, place + 1])
    return ranges


def within(blanks, others):
    """Whether every range lies in one of the others."""
    return all(
        any(first <= begin and end <= last for first, last in others) for begin, end in blanks
    )


def blanked(octets, blanks, model):
    """The octets with those of `model` in the ranges."""
    made = bytearray(octets)
    for begin, end in blanks:
        made[begin:end] = model[begin:end]
    return bytes(made)
