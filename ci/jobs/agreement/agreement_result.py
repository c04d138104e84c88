"""What became of one comparison, and the JUnit file of all."""

import dataclasses
import xml.etree.ElementTree as xml

# Of a disagreement, lines that are shown.
MOST_SHOWN = 12


class CannotCompare(Exception):
    """What is needed is not there or did not run; the text is one sentence."""


@dataclasses.dataclass
class Result:
    """No problems, or sentences. `findings`: how many were looked at."""

    name: str
    problems: list
    findings: int = 0

    def lines(self):
        """What is shown of it."""
        more = len(self.problems) - MOST_SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        return [f"{self.name}: {each}" for each in self.problems[:MOST_SHOWN] + rest]


def write_junit(path, results):
    root = xml.Element("testsuite", name="agreement", tests=str(len(results)))
    for result in results:
        case = xml.SubElement(root, "testcase", classname="agreement", name=result.name)
        if result.problems:
            failure = xml.SubElement(case, "failure", message=result.problems[0])
            failure.text = "\n".join(result.lines())
    root.set("failures", str(sum(bool(each.problems) for each in results)))
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
