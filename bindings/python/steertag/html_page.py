"""HTML pages that are one file and load nothing: how their templates are read."""

import jinja2


def environment(folder):
    """The jinja2.Environment of the templates in a folder. It escapes all values, and an unknown name is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
