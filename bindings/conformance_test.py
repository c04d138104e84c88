"""The ledger and the judge from Python: rows, rules, and the judge as an observer."""

from steertag import conformance, ledger, trace, wire


def test_the_ledger_is_whole_and_sorted():
    ids = [row.id for row in ledger.requirements()]
    assert ids and ids == sorted(set(ids))


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


def words(*values):
    return b"".join(value.to_bytes(4, "big") for value in values)


def call(xid):
    return words(xid, 1, 32, 0, 0, 0, 0, xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0)


def reply(xid, credit):
    return words(xid, 1, credit, 0, 0, 0, 0, xid, 1, 0, 0, 0, 0)


def test_a_judge_takes_messages_without_a_connection():
    judge = conformance.Judge()
    judge.connect(wire.encode(wire.PrivateData(send_bytes=4096, receive_bytes=4096)))
    judge.accept()
    judge.send(trace.Role.client, call(1))
    judge.send(trace.Role.server, reply(1, 32))
    assert judge.findings == []
    judge.send(trace.Role.client, call(2))
    judge.send(trace.Role.server, reply(2, 0), invalidated=7)
    found = {(finding.requirement.id, finding.event) for finding in judge.findings}
    assert ("RFC8166-3.3.1-5", 5) in found
    assert any(id.startswith("RFC8797-4") for id, _ in found), "no side has set R"
