"""Finds the suites: the folder `suites` of the checkout or of an installed package, with one folder a role."""

from . import build_paths

ROLES = ("server", "client")


class NoSuites(Exception):
    """There are no suites; the text is one sentence."""


def root():
    """The folder that holds a folder a role, whether it exists or not."""
    return build_paths.shipped("suites")


def folders():
    """The folders of the suites that exist. Raises NoSuites when there is none."""
    found = [root() / role for role in ROLES if (root() / role).is_dir()]
    if not found:
        raise NoSuites(f"there are no suites in {root()}; name the folder of the cases")
    return found


def folder(role):
    """The folder of a role, one of ROLES. Raises NoSuites."""
    found = root() / role
    if not found.is_dir():
        raise NoSuites(f"there are no cases for a {role} in {root()}")
    return found
