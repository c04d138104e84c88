"""The engine's grading module. It has this package's name, so it is imported from the extension."""

from .. import _engine, engine_problem

if _engine is None:
    raise ImportError(engine_problem)

annotate = _engine.grade.annotate
CaptureError = _engine.grade.CaptureError
FileGrade = _engine.grade.FileGrade
Profile = _engine.grade.Profile
