"""The options that select cases, of pytest and of `steertag cases`. They need no engine."""

OPTIONS = ("--section", "--requirement", "--topic")


def add_options(add):
    """Declares the options of `selection_of` but --case, by argparse's or pytest's way to add one."""
    for option, metavar, text in (
        (
            "--section",
            "SECTION",
            "that assert a requirement of this section or below it: RFC8166-4.5",
        ),
        ("--requirement", "ID", "that assert this requirement: RFC8166-4.5.1-1"),
        ("--topic", "NAME", "about this topic, the second word of their ids: header"),
    ):
        add(
            option,
            metavar=metavar,
            action="append",
            default=[],
            help=f"only the cases {text}; may be repeated",
        )
