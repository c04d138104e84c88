"""The table of exit statuses: in the page and in every help."""

from steertag import build_paths, cli, exit_statuses


def test_the_page_has_the_table():
    page = (build_paths.checkout() / "docs" / "commands.md").read_text().splitlines()
    start = page.index("| command | status | meaning |") + 2
    rows = list(exit_statuses.table_rows())
    assert page[start : start + len(rows)] == rows
    assert not page[start + len(rows)], "a row too many"


def test_the_page_on_ci_has_those_of_a_run():
    page = build_paths.checkout() / "docs" / "guide" / "baselines.md"
    rows = [
        f"| {status} | {meaning} |" for status, meaning in exit_statuses.STATUSES["test"].items()
    ]
    assert "\n".join(rows) + "\n\n" in page.read_text()


def test_every_row_is_of_a_command_and_in_its_help():
    parser = cli.parser()
    (commands,) = [each.choices for each in parser._actions if isinstance(each.choices, dict)]
    for name in exit_statuses.STATUSES:
        if name == "serve":  # the native program has a help of its own
            continue
        command, _, action = name.partition(" ")
        found = commands[command]
        if action:
            (actions,) = [each.choices for each in found._actions if isinstance(each.choices, dict)]
            found = actions[action]
        assert "exit status" in found.format_help(), name
