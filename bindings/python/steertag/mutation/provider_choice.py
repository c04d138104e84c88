"""The provider of a score. Some deviations are below messages: in octets that one provider alone has."""

from .deviating_peer import CannotScore

PROVIDERS = ("iwarp", "roce")
# Documents and rows about what is below messages, with the provider that has it.
_BINDS = {
    "IBA": "roce",
    "RFC5040": "iwarp",
    "RFC5041": "iwarp",
    "RFC5044": "iwarp",
    "RFC6581": "iwarp",
    "ODAFS-31": "iwarp",  # over RoCE more Reads than the depth are no fault to our server: it answers them
    "ODAFS-34": "iwarp",  # recoverable refusals are messages of RDMAP
}
# What a run takes without `--listen`.
_DEFAULT = "iwarp"


def bound_to(requirement):
    """The provider that alone shows who breaks this row; None if any does."""
    return _BINDS.get(requirement) or _BINDS.get(requirement.partition("-")[0])


def listening(requirement, provider=None):
    """The options of a run over the provider. None: the one that shows who breaks this row."""
    chosen = provider or bound_to(requirement) or _DEFAULT
    if provider is None and chosen == _DEFAULT:
        return []
    return ["--listen", f"{chosen}://127.0.0.1:0"]


def parted(deviations, provider):
    """([the deviations to try], [those below messages of another provider]). A deviation whose own row
    is below messages is so with all of its rows. Without a provider all are tried. Raises CannotScore
    if none is left."""
    owns = {each.name: each.requirement for each in deviations if not each.also}
    tried, below = [], []
    for each in deviations:
        homes = {bound_to(row) for row in (each.requirement, owns.get(each.name, ""))} - {None}
        other = provider is not None and homes - {provider}
        (below if other else tried).append(each)
    if not tried:
        raise CannotScore(
            f"none of these deviations is about messages: {provider} has nothing to show"
        )
    return tried, below
