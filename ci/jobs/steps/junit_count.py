"""Prints "PASSED FAILED" of one step: from its JUnit file if there is one, else from its status. With
--failures prints instead one line for each test that failed, and the first line of why."""

import argparse
import pathlib
import xml.etree.ElementTree

# Characters of one line about a failure.
MOST_CHARACTERS = 300


def has_failed(case):
    return case.get("status") == "fail" or bool(
        {"failure", "error"} & {child.tag for child in case}
    )


def count(path, status):
    """A step whose status is not 0 has failed, whatever its JUnit file says."""
    if not path.exists():
        return (0, 1) if status else (1, 0)
    passed = failed = 0
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        if has_failed(case):
            failed += 1
        elif case.find("skipped") is None:
            passed += 1
    if not failed and (status or not passed):
        failed = 1
    return passed, failed


def failures(path):
    if not path.exists():
        return
    for case in filter(has_failed, xml.etree.ElementTree.parse(path).iter("testcase")):
        why = next((child.get("message") for child in case if child.get("message")), "")
        name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        yield f"{name}: {why}".splitlines()[0][:MOST_CHARACTERS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("junit", type=pathlib.Path)
    parser.add_argument("status", type=int, nargs="?", default=0)
    options = parser.parse_args()
    if options.failures:
        for line in failures(options.junit):
            print(line)
    else:
        print(*count(options.junit, options.status))


if __name__ == "__main__":
    main()
