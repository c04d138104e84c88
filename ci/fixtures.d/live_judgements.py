"""What live runs judged, kept beside their captures: in each folder of captures that cases left one file."""

import yaml

NAME = "judged.yaml"
# Of fixtures/captures.
FOLDERS = ("deviations/server", "deviations/client", "conforming")
HEAD = """\
# What the judge found on each connection while the case ran that left the capture of this name: the rows
# `judged` of report.json. `cut`: the capture ends before the case did. `ci/fixtures captures` writes it.
"""


def load(folder):
    """{name of the capture: {id: of the case, judged: rows of report.json, cut: whether it is}}"""
    path = folder / NAME
    if not path.exists():
        return {}
    # The one in C, if there is one: there are thousands of lines.
    return yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}


def keep(folder, made):
    """Takes over {name: as of `load`} of captures that were made anew; those whose capture is gone leave."""
    kept = {**load(folder), **made}
    kept = {name: kept[name] for name in sorted(kept) if (folder / f"{name}.pcapng").exists()}
    text = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=120)
    (folder / NAME).write_text(HEAD + text)
