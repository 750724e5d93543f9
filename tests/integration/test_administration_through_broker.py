"""Operators at work: the shell and both clients on a broker with a journal, through restarts, with a log of changes."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest
from doubles.broker_process import PATIENCE_SECONDS, broker_process, python_process
from doubles.commands import complaint, printed

from broker.command.shell import perform
from client import Client, ConnectionLost, DefinitionError, EventError, UnknownStream, UnknownSubscription, aio


def test_the_shell_lists_and_changes_and_a_restart_has_it_still(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = f'[journal]\npath = "{tmp_path / "data"}"\n'
    with broker_process(journal) as broker, Client(broker.address) as client, Client(broker.address) as other:
        monkeypatch.setenv("FORETELL_BROKER", broker.address)
        client.add_stream("S", {"x": "int"})
        subscription = client.subscribe("all", "cel", "S", durable="mine")
        other.subscribe("some", "cel", "FILTER{x > 1}(S)")
        client.publish_batch("S", [1, 2, 3], [(1,), (2,), (3,)], ids=[7, 8, 9])
        rows = [json.loads(line) for line in printed(capsys, "sessions")]
        assert [(row["number"], row["connected"], row["subscriptions"]) for row in rows] == [
            ("1", True, 1), ("2", True, 1), ("3", True, 0),
        ]  # fmt: skip
        (row,) = map(json.loads, printed(capsys, "cursors"))
        assert (row["name"], row["backlog"], row["attached"]) == ("mine", 3, True)
        assert "another client is attached" in complaint(capsys, "move-cursor", "mine", "2")
        subscription.close()
        assert printed(capsys, "move-cursor", "mine", "2") == ["moved mine to 2"]
        assert printed(capsys, "tail", "S", "--count", "2") == [
            '{"stream": "S", "time": 2, "id": 8, "data": {"x": 2}}',
            '{"stream": "S", "time": 3, "id": 9, "data": {"x": 3}}',
        ]
        text = "\n".join(printed(capsys, "explain"))
        assert "2 subscriptions" in text
        assert "\nnow: " in text or " now: " in text
        assert printed(capsys, "explain", "--format", "svg")[0].startswith("<svg")
        assert printed(capsys, "replace-subscription", "all", "--query", "FILTER{x > 3}(S)") == ["replaced all"]
        kept = complaint(capsys, "replace-subscription", "all", "--query", "S", "--keep-runs")
        assert kept.endswith("runs of the language 'cayuga' keep their text: it can only begin anew")
        client.publish_batch("S", [4, 5], [(3,), (4,)])
        assert printed(capsys, "delete-subscription", "some") == ["deleted some"]
        before = [other.next_notification("some", PATIENCE_SECONDS) for _ in range(4)]
        assert [each.end for each in before if each is not None] == [2, 3, 4, 5]
        with pytest.raises(UnknownSubscription, match="an administrator has deleted it"):
            other.next_notification("some", PATIENCE_SECONDS)
        assert "has cursors: forget them first" in complaint(capsys, "delete-subscription", "all")
        client.add_stream("T", {"x": "int"})
        assert printed(capsys, "add-attribute", "S", "y", "string?") == ["added y to S"]
        client.publish_batch("S", [6], [(1,)])
        assert "stream 'S': read by subscription 'all'" in complaint(capsys, "delete-stream", "S")
        assert printed(capsys, "delete-stream", "T") == ["deleted T"]
        assert printed(capsys, "close-session", "2") == ["closed session 2"]
        with pytest.raises(ConnectionLost, match="an administrator has closed it"):
            other.ping()
        broker.process.terminate()
        _, log = broker.process.communicate(timeout=PATIENCE_SECONDS)
    assert [line.partition("operator ")[2] for line in log.splitlines() if "changed by an operator" in line] == [
        "user=anybody action=move-cursor name=mine position=2",
        'user=anybody action=replace-subscription name=all language="" keep_runs=False',
        "user=anybody action=delete-subscription name=some",
        "user=anybody action=add-attribute name=S attribute=y type=string?",
        "user=anybody action=delete-stream name=T",
        "user=anybody action=close-session name=2",
    ]
    with broker_process(journal) as broker, Client(broker.address) as client:
        monkeypatch.setenv("FORETELL_BROKER", broker.address)
        assert [(each.name, each.query) for each in client.subscriptions()] == [("all", "FILTER{x > 3}(S)")]
        with client.subscribe("all", durable="mine") as subscription:
            found = [subscription.next(PATIENCE_SECONDS) for _ in range(2)]
            assert [(each.position, each.end) for each in found if each is not None] == [(3, 3), (4, 5)]
        assert [(each.name, each.schema.declared()) for each in client.streams()] == [
            ("S", {"x": "int", "y": "string?"})
        ]
        with client.subscribe("new", "cel", "FILTER{y = 'b'}(S)") as subscription:
            client.publish_batch("S", [7, 8], [(4, None), (5, "b")])
            last = subscription.next(PATIENCE_SECONDS)
            assert last is not None
            assert last.data == {"x": 5, "y": "b"}
        client.add_stream("S", {"x": "int"})
        client.publish_batch("S", [9], [(4,)])
        assert printed(capsys, "forget", "mine") == ["forgot mine"]
        assert printed(capsys, "cursors") == []
        assert client.subscriptions() == []


def test_the_asyncio_client_does_the_same() -> None:
    async def story(address: str) -> None:
        async with aio.Client(address) as client, aio.Client(address) as other:
            await client.add_stream("S", {"x": "int"})
            await other.subscribe("all", "cel", "S")
            await client.publish_batch("S", [1, 2], [(1,), (2,)], ids=[7, 8])
            assert [each.number for each in await client.sessions()] == ["1", "2"]
            (event,) = await client.last_events("S", 1)
            assert (event.id, event.time, event.data) == ("8", 2, {"x": 2})
            assert "1 subscription" in await client.explain()
            assert await client.cursors() == []
            await client.replace_subscription("all", "FILTER{x > 1}(S)")
            assert [each.query for each in await client.subscriptions()] == ["FILTER{x > 1}(S)"]
            await client.delete_subscription("all")
            await client.add_attribute("S", "y", "int?")
            await client.publish("S", {"x": 3, "y": 4}, time=3)
            assert [event.data for event in await client.last_events("S", 2)] == [{"x": 2, "y": None}, {"x": 3, "y": 4}]
            await client.delete_stream("S")
            with pytest.raises(UnknownStream):
                await client.delete_stream("S")
            await client.add_stream("S", {"x": "int"})
            assert await client.subscriptions() == []
            with pytest.raises(UnknownSubscription, match="cursor 'mine' is not known"):
                await client.move_cursor("mine", 1)
            with pytest.raises(DefinitionError, match="count: expected a whole number from 1 on, found int 0"):
                await client.last_events("S", 0)
            await client.close_session(2)
            with pytest.raises(ConnectionLost):
                await other.ping()

    with broker_process() as broker:
        asyncio.run(story(broker.address))


def line(number: int) -> str:
    return json.dumps({"stream": "S", "time": number, "id": number, "data": {"x": number}}) + "\n"


def test_tail_follows_a_stream_through_a_restart_until_it_is_interrupted(tmp_path: Path) -> None:
    configuration = f'[journal]\npath = "{tmp_path / "data"}"\n'
    # Whoever runs the tests in the background may have told them to ignore interrupts, and children inherit that.
    program = """
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from broker.command.shell import main
        sys.argv[1:] = ["tail", "S", "--follow", "--count", "2", "--broker", sys.argv[1]]
        main()
    """
    with broker_process(configuration) as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "int"})
        client.publish_batch("S", [1, 2, 3], [(1,), (2,), (3,)], ids=[1, 2, 3])
        with python_process(program, broker.address) as following:
            assert following.stdout is not None
            assert following.stderr is not None
            assert following.stderr.readline() == "following S\n"
            assert [following.stdout.readline() for _ in range(2)] == [line(2), line(3)]
            many = range(4, 504)
            client.publish_batch("S", list(many), [(each,) for each in many], ids=list(many))
            assert [following.stdout.readline() for _ in many] == [line(each) for each in many]
            broker.process.kill()
            broker.process.wait()
            assert following.stderr.readline() == f"lost the broker at {broker.address}, waiting for it\n"
            again = f'address = "{broker.address}"\n{configuration}'
            with broker_process(again), Client(broker.address) as other:
                other.publish_batch("S", [504], [(504,)], ids=[504])
                assert following.stderr.readline() == "following S\n"
                other.publish_batch("S", [505], [(505,)], ids=[505])
                assert [following.stdout.readline() for _ in range(2)] == [line(504), line(505)]
                following.send_signal(signal.SIGINT)
                assert following.communicate(timeout=PATIENCE_SECONDS) == ("", "")
                assert following.returncode == 130
                assert other.subscriptions() == []


def test_a_broker_keeps_the_unit_of_a_stream_for_all_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = f'[journal]\npath = "{tmp_path / "data"}"\n'
    with broker_process(journal) as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "int"}, time_unit="s")
        client.publish("S", {"x": 1}, time=1_700_000_000)
    events = tmp_path / "events.csv"
    events.write_text("time,x\n1700000002,3\n")
    with broker_process(journal) as broker, Client(broker.address) as client:
        monkeypatch.setenv("FORETELL_BROKER", broker.address)
        assert [each.time_unit for each in client.streams()] == ["s"]
        assert json.loads(printed(capsys, "streams")[0])["time_unit"] == "s"
        client.publish("S", {"x": 2}, time=1_700_000_001)
        assert printed(capsys, "publish", "S", str(events)) == ["1 events published to S"]
        found = [each.time for each in client.last_events("S", 2)]
        assert found == [1_700_000_001_000_000, 1_700_000_002_000_000]
        with pytest.raises(EventError):
            client.publish("S", {"x": 2}, time=1_700_000_003_000_000)


def test_warnings_on_a_text_reach_both_clients_and_the_shell(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    odd, warning = "FILTER{x > 5 AND x > 3}(S)", "line 1, column 20: x > 3 is always true beside x > 5"

    async def story(address: str) -> None:
        async with aio.Client(address) as client:
            assert (await client.subscribe("odd", "cel", odd)).warnings == (warning,)

    with broker_process() as broker, Client(broker.address) as client:
        monkeypatch.setenv("FORETELL_BROKER", broker.address)
        client.add_stream("S", {"x": "int?"})
        assert client.subscribe("odd", "cel", odd).warnings == (warning,)
        assert client.subscribe("plain", "cel", "FILTER{x > 5}(S)").warnings == ()
        assert client.subscribe("null", "cel", "FILTER{x = x}(S)").warnings == ()
        asyncio.run(story(broker.address))
        assert perform(["subscribe", "odd", "--query", odd, "--timeout", "0"]) == 0
        assert capsys.readouterr().err.splitlines() == [f"foretell: warning: {warning}", "subscribed to odd"]
    assert not recwarn.list


def test_shells_complete_commands(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_FORETELL_COMPLETE" in "\n".join(printed(capsys, "completion", shell))
    assert "expected bash, zsh, fish, found 'bosh'; did you mean 'bash'?" in complaint(capsys, "completion", "bosh")
