"""What the data servers of a cluster carry while a client copies and parts die."""

import dataclasses
import re

# Of a data server that a copy uses, before its first death or the end of the copy. What it says to the metadata server
# and to its log is far less.
LEAST_OCTETS = 256 << 10
PLACES = re.compile(r"octets at \d+ data servers: ([\d, ]+); at the metadata server: (\d+)")


class Traffic:
    """Octets of data servers in one copy: of each before its first death, and behind each start anew."""

    def __init__(self, data_servers):
        self._servers = list(data_servers)
        self._began = {part.name: part.carried() for part in self._servers}
        self._first = {}  # name: octets
        self._again = []  # octets of processes that began in this copy

    def _note(self, part):
        octets = part.carried() - self._began[part.name]
        if part.name in self._first:
            self._again.append(octets)
        else:
            self._first[part.name] = octets

    def dies(self, part):
        """Called before its process is killed."""
        if part in self._servers:
            self._note(part)
            self._began[part.name] = 0

    def end(self):
        for part in self._servers:
            self._note(part)

    @property
    def used_again(self):
        """How many processes that began in this copy have carried octets of it."""
        return sum(octets >= LEAST_OCTETS for octets in self._again)

    @property
    def used(self):
        """Names of the data servers that were there when the copy began, and have carried octets of it."""
        return {name for name, octets in self._first.items() if octets >= LEAST_OCTETS}


def check_used(traffics, names):
    """Each data server of these names has carried octets in half of the copies or more. In most of them it had been
    started anew since the copy before. A client may turn to the metadata server for a whole copy, as in its grace.
    """
    for name in names:
        count = sum(name in traffic.used for traffic in traffics)
        assert 2 * count >= len(
            traffics
        ), f"{name} carried octets in {count} copies of {len(traffics)}"


@dataclasses.dataclass(frozen=True)
class Places:
    """Octets of READs or WRITEs of a copy, as `steertag cp` counts them."""

    data_servers: int
    metadata_server: int

    @classmethod
    def read(cls, text):
        found = PLACES.search(text)
        if not found:  # it has used no data server
            return cls(0, 0)
        return cls(sum(map(int, found[1].split(", "))), int(found[2]))

    @property
    def all(self):
        return self.data_servers + self.metadata_server


def check_repeated(copies, size):
    """Of the copies to the servers, each a pair of Places and the parts that died, some have written octets twice.
    Servers that die lose what was not committed, so that no copy would be whole without."""
    if not any(died for _, died in copies):
        return
    most = max(places.all for places, died in copies if died)
    assert most > size, f"no WRITE was repeated: a copy of {size} octets wrote {most} at most"
