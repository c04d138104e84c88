"""What makes the methods that a case uses actions of its recording; see recorder.Recorder."""

import functools
import inspect


def recorded(method):
    """Makes each call of a method an action of the recording. Its class has `actions`, a
    recorder.Recorder or None, and `numbering`, where its numbers stand or None."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def wrapper(self, *arguments, **named):
        recorder = self.actions
        if recorder is None or not recorder.listening:
            return method(self, *arguments, **named)
        fields = dict(signature.bind(self, *arguments, **named).arguments)
        del fields["self"]
        with recorder.doing(method.__name__, self, fields, self.numbering) as action:
            result = method(self, *arguments, **named)
        recorder.ended(action, result)
        return result

    return wrapper


class RecordedRaw:
    """A fabric connection as a case uses it directly: each call is an action."""

    def __init__(self, raw, conn):
        self._raw, self._conn = raw, conn

    def __getattr__(self, name):
        found = getattr(self._raw, name)
        return functools.partial(self._call, name, found) if callable(found) else found

    def _call(self, name, method, *arguments, **named):
        recorder = self._conn.actions
        fields = {"method": name, "arguments": arguments, "named": named}
        with recorder.doing("raw", self._conn, fields, self._conn.numbering):
            return method(*arguments, **named)
