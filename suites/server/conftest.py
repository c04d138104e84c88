"""The order of the cases."""


def pytest_collection_modifyitems(items):
    """Modules with RUNS_LAST, which says why, come behind all others."""
    items.sort(key=lambda item: hasattr(item.module, "RUNS_LAST"))
