"""The ledger and the judge from Python: rows, rules, and the judge as an observer."""

from steertag import conformance, ledger, trace


def test_the_ledger_is_whole_and_sorted():
    ids = [row.id for row in ledger.requirements()]
    assert len(ids) == 637
    assert ids == sorted(set(ids))


def test_a_requirement_shows_its_fields():
    row = ledger.find("RFC8166-4.2.1-1")
    assert (row.document, row.section, row.level, row.role) == (
        "RFC8166",
        "4.2.1",
        "MUST",
        "sender",
    )
    assert row.statement and row.observable and row.test
    assert repr(row) == "<Requirement RFC8166-4.2.1-1>"
    assert ledger.find("RFC8166-4.2.1-99") is None


def test_every_document_has_a_title():
    titles = {document.name: document.title for document in ledger.documents()}
    assert {row.document for row in ledger.requirements()} == set(titles)
    assert all(titles.values())


def test_rules_cite_the_ledger():
    rules = conformance.rules()
    assert len({rule.name for rule in rules}) == len(rules) > 60
    for rule in rules:
        assert ledger.find(rule.requirement.id).statement == rule.requirement.statement
        assert rule.sentence.endswith(".")


def test_a_judge_observes():
    judge = conformance.Judge(rdma_operations=False)
    assert isinstance(judge, trace.EventSink)
    trace.Recorder().replay(judge)
    judge.stop_observing()
    assert judge.findings == []
    assert judge.dropped_findings == 0
