"""What a report says of each connection, so that a capture of it can be held against that."""

from types import SimpleNamespace

from steertag.suite.cases.judge_findings import connection_rows

ACCEPT = ("server", "accept")
CLIENT_SEND, SERVER_SEND = ("client", "send"), ("server", "send")
TERMINATE = ("client", "terminate")


def connection(events, *found_at, seen_events=None, dropped=0, capture=None):
    """A connection with these events, (actor, kind), and a finding at each of those with these indices. The judge
    saw the first `seen_events`, if not all."""
    recorded = [
        SimpleNamespace(index=index, actor=SimpleNamespace(name=actor), kind=kind)
        for index, (actor, kind) in enumerate(events)
    ]
    findings = [
        SimpleNamespace(
            event=index,
            requirement=SimpleNamespace(id="RFC8166-3.3.1-4"),
            rule="calls_stay_within_grant",
            culprit=SimpleNamespace(name="client"),
            expected="at most 2",
            observed="call 3",
        )
        for index in found_at
    ]
    judge = SimpleNamespace(findings=findings, dropped_findings=dropped)
    recorder = SimpleNamespace(events=lambda: recorded)
    watch = SimpleNamespace(judge=judge, recorder=recorder, number=2, capture=capture)
    watch.sight_lost, watch.seen_events = seen_events is not None, seen_events
    return SimpleNamespace(watch=watch)


def test_a_finding_names_its_event_by_what_a_capture_shows_too():
    (row,) = connection_rows([connection([ACCEPT, CLIENT_SEND, SERVER_SEND, CLIENT_SEND], 3)], [])
    assert row == {
        "port": 50002,
        "findings": [
            {
                "id": "RFC8166-3.3.1-4",
                "rule": "calls_stay_within_grant",
                "culprit": "client",
                "actor": "client",
                "kind": "send",
                "number": 2,
                "expected": "at most 2",
                "observed": "call 3",
            }
        ],
    }


def test_connections_over_roce_have_a_queue_pair_in_place_of_a_port():
    capture = SimpleNamespace(client_queue_pair=0x12)
    (row,) = connection_rows([connection([ACCEPT], capture=capture)], [])
    assert row == {"queue_pair": 0x12, "findings": []}


def test_what_is_not_kept_is_counted():
    (row,) = connection_rows([connection([CLIENT_SEND], 0, dropped=7)], [])
    assert row["dropped"] == 7


def test_events_are_counted_where_a_capture_may_show_more():
    events = [ACCEPT, CLIENT_SEND, CLIENT_SEND]
    counts = {"client": {"send": 2}, "server": {"accept": 1}}
    unseen = [CLIENT_SEND, SERVER_SEND]
    (row,) = connection_rows([connection([*events, *unseen], seen_events=3)], [])
    assert (row["sight_lost"], row["events"]) == (True, counts)
    (row,) = connection_rows([connection([*events, TERMINATE])], [])
    assert row["events"] == {**counts, "client": {"send": 2, "terminate": 1}}
    assert "sight_lost" not in row


def test_streams_of_octets_are_named_and_other_connections_left_out():
    over_tcp = SimpleNamespace(watch=SimpleNamespace(number=1))
    assert connection_rows([over_tcp, SimpleNamespace()], [50003]) == [
        {"port": 50003, "octets": True, "findings": []}
    ]
