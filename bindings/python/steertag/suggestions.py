"""Finds the known words that are nearest to an unknown one."""

MOST_NEAR = 3
# Below this likeness (difflib's ratio) a word is no slip of the keys.
LEAST_LIKENESS = 0.6


def nearest(word, known):
    """The known words nearest to `word`, the nearest first; none if nothing is near. Letters' case does not
    count."""
    import difflib

    by_folded = {each.casefold(): each for each in sorted(known, reverse=True)}
    near = difflib.get_close_matches(word.casefold(), by_folded, MOST_NEAR, LEAST_LIKENESS)
    return [by_folded[each] for each in near]


def did_you_mean(word, known):
    """ "; did you mean A, B or C?", or "" if nothing is near: the end of a sentence on an unknown word."""
    near = nearest(word, known)
    if not near:
        return ""
    *before, last = near
    return f"; did you mean {', '.join(before) + ' or ' if before else ''}{last}?"
