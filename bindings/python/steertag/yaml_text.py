"""YAML written by hand: every defect is one exception, with its line if known."""

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver


class NotYaml(Exception):
    """A text that is not acceptable YAML. The message is half a sentence. `line` counts from 1; 0
    is unknown."""

    def __init__(self, problem, line=0):
        super().__init__(problem)
        self.line = line

    def at(self, path):
        """`path`, and the line if it is known."""
        return f"{path}, line {self.line}" if self.line else str(path)


try:
    from yaml.cyaml import CParser
except ImportError:  # a build of the library without libyaml
    FastLoader = yaml.SafeLoader
else:

    class FastLoader(Composer, CParser, SafeConstructor, Resolver):
        """Scans in C, which is most of the work. Nodes are made in Python: the library's maker in C overflows the
        stack where a text is too deep."""

        def __init__(self, text):
            CParser.__init__(self, text)
            for part in (Composer, SafeConstructor, Resolver):
                part.__init__(self)


class _Loader(FastLoader):
    """Refuses duplicate keys: the library silently keeps the last."""

    def construct_mapping(self, node, deep=False):
        if isinstance(node, yaml.MappingNode):
            _refuse_twice(node)
        return super().construct_mapping(node, deep)


def _refuse_twice(node):
    seen = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.value in seen:
            raise NotYaml(f"the key '{key.value}' is there twice", key.start_mark.line + 1)
        seen.add(key.value)


def decode(text):
    """The content. Raises NotYaml, also for exceptions of the library on tags and nesting."""
    try:
        return yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error) or "malformed"
        raise NotYaml(f"not YAML: {problem}", mark.line + 1 if mark else 0) from None
    except (ValueError, AttributeError, TypeError) as error:
        raise NotYaml(f"not YAML: {error}") from None
    except RecursionError:
        raise NotYaml("not YAML: too deep") from None
