"""A list of cases in few words."""

import os

# More cases of one topic than these are counted.
MOST_NAMED = 3


def topics(cases):
    """["threshold.stays", "truncation.short.* (25)"]: cases without their side; many of a topic as
    one, with the words that they share."""
    groups = {}
    for case in sorted(cases):
        words = (case.partition(".")[2] or case).split(".")
        groups.setdefault(words[0], []).append(words)
    found = []
    for names in groups.values():
        if len(names) <= MOST_NAMED:
            found += [".".join(words) for words in names]
        else:
            shared = os.path.commonprefix([words[:-1] for words in names]) or names[0][:1]
            found.append(f"{'.'.join(shared)}.* ({len(names)})")
    return found
