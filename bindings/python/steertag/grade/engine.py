"""The engine's part of grading. The package has the name of the engine's folder, so it is taken from the
extension module itself."""

from .. import _engine, engine_problem

if _engine is None:
    raise ImportError(engine_problem)

annotate = _engine.grade.annotate
CaptureError = _engine.grade.CaptureError
FileGrade = _engine.grade.FileGrade
Profile = _engine.grade.Profile
