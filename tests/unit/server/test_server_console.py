"""What the console's pages are told: listings in portions, by the permissions of who looks; and who is let in."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import pytest
from doubles.broker_process import broker_process
from doubles.running_broker import running
from doubles.served_console import served
from doubles.small_engine import SmallEngine

from broker.command.shell import perform
from broker.console import signing_in as signing_module
from broker.console.signing_in import SIGNED_IN_MAX, SIGNED_IN_SECONDS_MAX, SigningIn, digest, read_tokens
from broker.engine import Engine
from broker.events import DefinitionError
from broker.kernel import Access, Admission, Sources, User, flows, states, wires
from broker.server import read_configuration
from broker.server.console import ConsoleSettings
from broker.server.console_rates import MinuteRates
from broker.server.console_sampler import BrokerLooks, Sampler
from broker.server.loop import Broker
from client import Client

OPENSSL: Final = (
    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
)  # fmt: skip
"""Makes a certificate that only its own test trusts."""
MANY: Final = 100_000
SECONDS_MAX: Final = 0.3


class Visitor:
    """A browser without a window: it keeps its cookie, and knows the token of forms."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.cookie = ""
        self.token = self.get("/api/session")[1].get("token", "")

    def get(self, path: str, **headers: str) -> tuple[int, Any]:
        return self._asked(urllib.request.Request(self.address + path, headers=headers))

    def post(self, path: str, body: object, **headers: str) -> tuple[int, Any]:
        usual = {"content-type": "application/json", "x-foretell-token": self.token, **headers}
        return self._asked(urllib.request.Request(self.address + path, json.dumps(body).encode(), usual))

    def _asked(self, request: urllib.request.Request) -> tuple[int, Any]:
        if self.cookie:
            request.add_header("cookie", self.cookie)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                kept = answer.headers.get("set-cookie")
                if kept is not None:
                    assert "HttpOnly" in kept
                    assert "SameSite=strict" in kept
                    self.cookie = kept.partition(";")[0]
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)


def next_look(live: Any) -> dict[str, Any]:
    """The next look that a page is told."""
    while line := live.readline().decode():
        if line.startswith("data: "):
            look: dict[str, Any] = json.loads(line.removeprefix("data: "))
            return look
    raise AssertionError("the stream has ended")


@contextmanager
def visited(broker: Broker, pages: ConsoleSettings | None = None) -> Iterator[Visitor]:
    with running(broker), served(broker, "http://127.0.0.1:0", pages) as address:
        yield Visitor(address)


@pytest.fixture
def engine() -> Engine:
    """Two streams, and a subscription to each."""
    engine = Engine()
    engine.add_stream("Stock", {"name": "string", "price": "float"}, key="name")
    engine.add_stream("Secret", {"x": "int"})
    engine.subscribe("ann.rise", query="FILTER{price > price_1}(Stock NEXT{$2.name = $1.name} Stock)")
    engine.subscribe("bob.all", query="SELECT * FROM Secret")
    return engine


def test_an_open_broker_shows_all_to_its_own_machine(engine: Engine) -> None:
    with visited(Broker(engine, "tcp://127.0.0.1:0")) as visitor:
        assert visitor.get("/api/session")[1]["admin"]
        _, streams = visitor.get("/api/streams")
        assert [each["name"] for each in streams] == ["Secret", "Stock"]
        assert streams[1]["attributes"] == {"name": "string", "price": "float"}
        _, found = visitor.get("/api/subscriptions?search=RISE")
        assert (found["total"], found["all"]) == (1, 2)
        assert found["entries"][0]["name"] == "ann.rise"
        _, one = visitor.get("/api/subscriptions/ann.rise")
        assert "<title>The automaton of ann.rise</title>" in one["svg"]
        assert one["explain"]
        assert visitor.get("/api/subscriptions/ann.fall")[0] == 404
        assert visitor.get("/api/streams/Stok/events")[0] == 404


PAIR: Final = """
PATTERN SEQ(Stock a, Stock b)
WHERE skip_till_next_match(a, b) {{ [name] AND a.price > {least} }}
WITHIN 10 min
"""


def test_the_program_says_which_subscriptions_run_together(engine: Engine) -> None:
    for least in range(7):
        engine.subscribe(f"pair_{least}", language="sase", query=PAIR.format(least=least))
    engine.subscribe("told", query="SELECT * FROM Stock PUBLISH Told")
    engine.subscribe("reader", query="SELECT * FROM Told")
    broker = Broker(engine, "tcp://127.0.0.1:0")
    with visited(broker) as visitor, Client(broker.endpoint) as client:
        found = visitor.get("/api/program")[1]
        assert (found["subscriptions"], found["machines"], found["more"]) == (11, 1, False)
        (machine,) = found["listed"]
        assert (machine["subscriptions"], machine["name"]) == (7, "pair_0")
        assert machine["lines"][0].startswith("group of 7 members")
        engine.unsubscribe("pair_0")
        (machine,) = visitor.get("/api/program")[1]["listed"]
        assert (machine["subscriptions"], machine["name"]) == (6, "pair_1")
        client.publish_batch("Stock", [1, 2], [("IBM", 4.5), ("FB", 0.5)])
        costs = visitor.get("/api/costs?name=pair_1&name=pair_6&name=bob.all&name=none")[1]
        assert {name: each["runs"] for name, each in costs.items()} == {"pair_1": 1, "pair_6": 0, "bob.all": 0}
        assert any("cost of an event" in line for line in costs["pair_1"]["lines"])
        drawn = visitor.get("/api/program/picture?search=PAIR&language=sase")[1]
        assert (drawn["drawn"], drawn["total"], drawn["left"]) == (6, 6, [])
        assert "pair_3" in drawn["svg"]
        assert visitor.get("/api/program/picture")[1]["left"] == []
        (left,) = visitor.get("/api/program/picture?search=reader")[1]["left"]
        assert "Told" in left


def test_a_subscription_among_many_has_no_number_of_runs(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.kernel.watching.COMPANY_MAX", 2)
    for least in range(3):
        engine.subscribe(f"pair_{least}", language="sase", query=PAIR.format(least=least))
    with visited(Broker(engine, "tcp://127.0.0.1:0")) as visitor:
        costs = visitor.get("/api/costs?name=pair_1&name=ann.rise")[1]
        assert (costs["pair_1"]["runs"], costs["ann.rise"]["runs"]) == (None, 0)


def test_events_and_clients_are_those_of_the_broker(engine: Engine) -> None:
    broker = Broker(engine, "tcp://127.0.0.1:0")
    with visited(broker) as visitor, Client(broker.endpoint) as client:
        client.publish_batch("Stock", [1, 2, 3], [("IBM", 1.0), ("IBM", 2.0), ("IBM", 3.0)])
        _, events = visitor.get("/api/streams/Stock/events")
        assert [each["data"]["price"] for each in events.values()] == [1.0, 2.0, 3.0]
        (session,) = visitor.get("/api/sessions")[1]
        assert session["software"].startswith("foretell client")
        assert session["connected"]


def test_looks_come_by_themselves_and_go_on_where_a_page_left(engine: Engine) -> None:
    broker = Broker(engine, "tcp://127.0.0.1:0")
    with visited(broker) as visitor, Client(broker.endpoint) as client:
        request = urllib.request.Request(visitor.address + "/api/live")
        with urllib.request.urlopen(request, timeout=60) as live:
            client.publish_batch("Stock", [1, 2], [("IBM", 1.0), ("IBM", 2.0)])
            lines: list[str] = []
            while sum(line.startswith("data: ") for line in lines) < 2:
                lines.append(live.readline().decode().strip())
        looks = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
        numbers = [int(line.removeprefix("id: ")) for line in lines if line.startswith("id: ")]
        assert looks[0]["subscriptions"] == 2
        assert looks[0]["at"] < looks[1]["at"]
        request = urllib.request.Request(visitor.address + "/api/live", headers={"last-event-id": str(numbers[0])})
        with urllib.request.urlopen(request, timeout=60) as live:
            again = ""
            while not again.startswith("id: "):
                again = live.readline().decode().strip()
        assert int(again.removeprefix("id: ")) == numbers[1]


def test_many_pages_cost_one_look_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.server.console_sampler.SAMPLE_SECONDS", 0.2)
    monkeypatch.setattr("broker.server.console_sampler.PACE_SECONDS", 0.01)  # 50 pages: each twice a second

    class Counted:
        """Statistics, and how often somebody has taken them."""

        taken = 0

        def statistics(self) -> dict[str, dict[str, Any]]:
            self.taken += 1
            return {"broker": {"events": self.taken}}

        def ask(self, question: Callable[[Any], Any], patience_seconds: float) -> Any:
            return question(self)

    counted = Counted()

    async def pages() -> list[int]:
        sampler = Sampler(BrokerLooks(cast("Broker", counted), 1.0).take)

        async def page() -> int:
            looks = 0
            async for part in sampler.follow(0):
                looks += part.count(b"\ndata: ")
                if looks >= 6:
                    break
            return looks

        found = await asyncio.gather(*[page() for _ in range(50)])
        for _ in range(100):
            if sampler._task is not None and sampler._task.done():
                break
            await asyncio.sleep(0.1)
        at_rest = counted.taken
        await asyncio.sleep(0.5)
        assert counted.taken == at_rest, "without a page it rests"
        return found

    assert set(asyncio.run(pages())) <= {6, 7, 8}, "several looks at once, and none is left out"
    assert 7 <= counted.taken <= 16


def test_users_with_tokens_see_what_they_may(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = tmp_path / "console.tokens"
    for name in ("ann", "root", "gone"):
        assert perform(["console-token", name, "--tokens", str(tokens)]) == 0
    anns, roots, gones = capsys.readouterr().out.split()
    assert anns not in tokens.read_text()
    assert tokens.stat().st_mode & 0o777 == 0o600
    ann = User("ann", read=("Stock",), subscribe=("ann.*",))
    access = Access({"key of ann": ann, "key of root": User("root", admin=True)})
    sources = Sources(wires(engine), engine.subscriptions)
    admission = Admission(access, flows(engine), states(engine), sources)
    broker = Broker(engine, "tcp://127.0.0.1:0", admission=admission)
    with visited(broker, ConsoleSettings(tokens, anybody=False)) as visitor:
        session = visitor.get("/api/session")[1]
        assert (session["user"], session["needed"]) == (None, True)
        for path in ("/api/streams", "/api/live", "/api/subscriptions", "/api/sessions", "/api/subscriptions/ann.rise"):
            assert visitor.get(path)[0] == 401
        assert visitor.post("/api/sign-in", {"token": "wrong"}) == (403, {"error": "nobody has this token"})
        assert visitor.post("/api/sign-in", {"token": anns}, **{"x-foretell-token": "forged"})[0] == 403
        assert visitor.post("/api/sign-in", {"token": anns}, origin="http://evil.example")[0] == 403
        assert visitor.get("/api/streams")[0] == 401
        assert visitor.post("/api/sign-in", {"token": anns})[0] == 200
        assert anns not in visitor.cookie
        assert visitor.get("/api/session")[1]["user"] == "ann"
        assert [each["name"] for each in visitor.get("/api/streams")[1]] == ["Stock"]
        assert [each["name"] for each in visitor.get("/api/subscriptions")[1]["entries"]] == ["ann.rise"]
        own = "/api/live", "/api/sessions", "/api/program", "/api/program/picture", "/api/costs?name=ann.rise"
        for path in (*own, "/api/streams/Secret/events"):
            assert visitor.get(path)[0] == 403
        unknown, hidden = (visitor.get(f"/api/subscriptions/{name}") for name in ("bob.none", "bob.all"))
        assert unknown[0] == hidden[0] == 403
        assert unknown[1]["error"].replace("none", "all") == hidden[1]["error"]
        assert visitor.post("/api/sign-out", {})[0] == 200
        visitor.cookie = ""
        assert visitor.post("/api/sign-in", {"token": roots})[0] == 200
        assert len(visitor.get("/api/subscriptions")[1]["entries"]) == 2
        assert visitor.get("/api/sessions")[0] == 200
        visitor.cookie = ""
        assert visitor.post("/api/sign-in", {"token": gones})[0] == 200
        assert visitor.get("/api/streams") == (403, {"error": "this user is not known any more"})


def test_beyond_this_machine_there_are_no_pages_without_tokens_and_encryption(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ann {digest('secret')}\n")
    for pages, shown in (
        (ConsoleSettings(), False),
        (ConsoleSettings(tokens), False),
        (ConsoleSettings(proxy=True), False),
        (ConsoleSettings(tokens, proxy=True), True),
        (ConsoleSettings(tokens, certificate=tmp_path / "cert.pem"), True),
    ):
        assert (pages.signing(only_here=False) is not None) == shown
    anywhere = ConsoleSettings(tokens, proxy=True).signing(only_here=False)
    assert anywhere is not None
    assert anywhere.needed


def test_behind_a_proxy_others_come_with_their_names_for_us_and_need_tokens(engine: Engine, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"anybody {digest('secret')}\n")
    with visited(Broker(engine, "tcp://127.0.0.1:0"), ConsoleSettings(tokens, proxy=True)) as visitor:
        assert visitor.get("/api/session", Host="console.example")[1]["user"] is None
        assert visitor.get("/api/streams", Host="console.example")[0] == 401
    with visited(Broker(engine, "tcp://127.0.0.1:0")) as visitor:
        assert visitor.get("/api/session", Host="console.example")[0] == 400


def test_a_certificate_makes_the_pages_encrypted(engine: Engine, tmp_path: Path) -> None:
    certificate, key = tmp_path / "localhost.pem", tmp_path / "localhost.key"
    subprocess.run([*OPENSSL, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    broker = Broker(engine, "tcp://127.0.0.1:0")
    pages = ConsoleSettings(certificate=certificate, key=key)
    with running(broker), served(broker, "http://127.0.0.1:0", pages) as address:
        assert address.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=str(certificate))
        with urllib.request.urlopen(f"{address}/api/session", timeout=60, context=trusted) as answer:
            assert json.load(answer)["user"] == "anybody"
    (tmp_path / "wrong.pem").write_text("no certificate")
    for wrong in (tmp_path / "wrong.pem", tmp_path / "missing.pem"):
        made = served(broker, "http://127.0.0.1:0", ConsoleSettings(certificate=wrong, key=key))
        with pytest.raises(DefinitionError, match=r"console\.certificate: expected PEM files"):
            made.__enter__()


def test_the_configuration_names_files_beside_it() -> None:
    text = '[console]\naddress = "http://127.0.0.1:0"\ntokens = "t"\ncertificate = "c"\nkey = "k"\nproxy = true\n'
    found = read_configuration(text, "/etc/foretell/foretell.toml")
    folder = Path("/etc/foretell")
    assert (found.console_tokens, found.console_certificate, found.console_key) == (
        folder / "t",
        folder / "c",
        folder / "k",
    )
    assert found.console_proxy
    with pytest.raises(DefinitionError, match="console"):
        read_configuration('[console]\ntoken = "t"\n', "foretell.toml")


def test_a_wrong_file_of_tokens_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    with pytest.raises(DefinitionError, match="expected a file of tokens: No such file"):
        read_tokens(file)
    file.write_text("# a comment\n\nann secret\n")
    with pytest.raises(DefinitionError, match="tokens: line 3: expected a user and 64 hexadecimal digits"):
        read_tokens(file)


def test_a_browser_is_forgotten_after_a_while_and_when_there_are_too_many() -> None:
    now = [0.0]
    signing = SigningIn({digest("token"): "ann"}, None, lambda: now[0])
    first = signing.enter("token")
    assert first is not None
    assert signing.user(first) == "ann"
    assert signing.user("guessed") is None
    now[0] = SIGNED_IN_SECONDS_MAX + 1.0
    assert signing.user(first) is None
    secrets = [signing.enter("token") for _ in range(SIGNED_IN_MAX + 1)]
    assert signing.user(secrets[0]) is None
    assert signing.user(secrets[1]) == "ann"
    assert signing_module.COOKIE == "foretell"


def test_a_page_of_very_many_subscriptions_comes_soon() -> None:
    engine = SmallEngine()
    engine.add_stream("S", {"x": "int"})
    for number in range(MANY):
        engine.subscribe(f"desk.{number:06}", language="cayuga", query="every S")
    broker = Broker(engine, "tcp://127.0.0.1:0")
    with visited(broker) as visitor:
        waits: dict[str, float] = {}
        for path in (
            "?page=1", "?page=1500", "?search=0999", "?search=nothing", "?page=2000", "/desk.050000",
            "/desk.050000/changes", "?language=cayuga", "?language=sase&search=0999",
        ):  # fmt: skip
            begun = time.process_time()
            status, found = visitor.get(f"/api/subscriptions{path}")
            waits[path] = time.process_time() - begun
            assert status == 200
            assert len(found.get("entries", ())) <= 50
        assert max(waits.values()) < SECONDS_MAX, waits
        assert visitor.get("/api/subscriptions?page=2000")[1]["entries"][-1]["name"] == "desk.099999"
        assert visitor.get("/api/subscriptions?page=2001")[1]["entries"] == []
        assert visitor.get("/api/subscriptions?search=0999")[1]["total"] == 120
        assert visitor.get("/api/subscriptions?language=cayuga&page=2000")[1]["total"] == MANY
        assert visitor.get("/api/subscriptions?language=sase")[1]["total"] == 0


def test_the_page_of_a_subscription_is_told_what_waits_and_why(tmp_path: Path) -> None:
    (tmp_path / "subscriptions.toml").write_text(
        '[streams.S]\nattributes = { k = "string", x = "int" }\n[subscriptions.q]\nlanguage = "sase"\nquery = """\n'
        'PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { [k] AND a.x < b.x } WITHIN 1 hour"""\n'
    )
    (tmp_path / "subscriptions.toml").chmod(0o600)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    text = (
        f'address = "tcp://127.0.0.1:0"\nsubscriptions = "{tmp_path}/subscriptions.toml"\n'
        f'[console]\naddress = "http://127.0.0.1:{port}"\n'
        f'[journal]\npath = "{tmp_path}/data"\n'
    )
    with broker_process(text) as running, Client(running.address) as client:
        visitor = Visitor(f"http://127.0.0.1:{port}")
        page = visitor.get("/api/subscriptions/q")[1]
        assert (page["keys"], page["reasons"]) == ([{"name": "k", "type": "string"}], True)
        assert [state for _, state, _ in page["places"]] == [0, 1, 2]
        request = urllib.request.Request(visitor.address + "/api/subscriptions/q/live")
        with urllib.request.urlopen(request, timeout=60) as live:
            look = next_look(live)  # results are kept from the first look on
            client.publish_batch("S", [1_000, 2_000, 3_000], [("a", 1), ("b", 7), ("b", 8)])
            while not look["found"]:
                look = next_look(live)
        assert look["states"] == [[0, 1, 2]]
        assert [(run["key"], run["begun"], run["state"]) for run in look["runs"]] == [
            ({"k": "a"}, 1_000, 1), ({"k": "b"}, 3_000, 1),
        ]  # fmt: skip
        (match,) = look["found"]
        assert match["lineage"] == [2, 3]
        status, why = visitor.get(f"/api/subscriptions/q/why?match={match['id']}")
        assert (status, [step["events"] for step in why["steps"]]) == (200, [[2], [3]])
        assert why["values"]["3"]["data"] == {"k": "b", "x": 8}
        _, nothing = visitor.get("/api/subscriptions/q/why-not?key=%22a%22")
        assert nothing["nearest"][0]["missing"] == 1
        assert visitor.get("/api/subscriptions/q/why-not?key=[1]")[0] == 400
        assert visitor.get("/api/subscriptions/q/why-not?time=never")[0] == 400
        assert visitor.get("/api/subscriptions/q/why?match=none")[0] == 400
        assert visitor.get("/api/subscriptions/r/live")[0] == 404


def test_reasons_need_a_journal_and_pages_are_few(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.server.console_subscription.WATCHED_MAX", 1)
    with visited(Broker(engine, "tcp://127.0.0.1:0")) as visitor:
        status, answer = visitor.get("/api/subscriptions/ann.rise/why?match=x")
        assert (status, answer["error"]) == (400, "reasons are found in the journal, and this broker has none")
        request = urllib.request.Request(visitor.address + "/api/subscriptions/ann.rise/live")
        with urllib.request.urlopen(request, timeout=60) as live:
            assert live.readline().startswith(b"retry")
            assert visitor.get("/api/subscriptions/bob.all/live")[0] == 503


def test_rates_are_of_the_last_minute() -> None:
    now = [0.0]
    rates = MinuteRates(lambda: now[0])
    assert rates.of("a", 5) is None
    now[0] = 30.0
    assert rates.of("a", 10) == 10.0
    assert rates.of("b", None) is None
    for second in range(31, 120):
        now[0] = float(second)
        found = rates.of("a", 10 + (second - 30))
    assert found == 60.0
    assert rates.of("a", 3) is None, "it has begun anew"


@contextmanager
def crowd(address: str, count: int, request: str) -> Iterator[list[tuple[socket.socket, bytes]]]:
    """So many connections that have sent this, one after the other, and what each was answered until the next came."""
    host, _, port = address.rpartition("/")[2].partition(":")
    opened: list[tuple[socket.socket, bytes]] = []
    try:
        for _ in range(count):
            own = socket.create_connection((host, int(port)), timeout=60)
            own.sendall(request.encode())
            opened.append((own, own.recv(64) if request.startswith("GET") else b""))
        yield opened
    finally:
        for own, _ in opened:
            own.close()


def posted(visitor: Visitor, length: int, body: str = "") -> str:
    head = f"POST /api/sign-in HTTP/1.1\r\nhost: localhost\r\nx-foretell-token: {visitor.token}\r\n"
    return f"{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"


def statuses(visitor: Visitor, *paths: str) -> list[int]:
    found = []
    for path in paths:
        with urllib.request.urlopen(visitor.address + path, timeout=60) as answer:
            found.append(answer.status)
    return found


def ended(own: socket.socket) -> bool:
    try:
        return own.recv(64) == b""
    except ConnectionResetError:
        return True


def here(engine: Engine) -> Broker:
    return Broker(engine, "tcp://127.0.0.1:0")


HEALTH: Final = ("/livez", "/readyz", "/metrics")


def test_health_and_metrics_answer_however_many_bodies_do_not_come(engine: Engine) -> None:
    with visited(here(engine)) as visitor, crowd(visitor.address, 150, posted(visitor, 100, "{")):
        for _ in range(5):
            time.sleep(0.1)  # until all of them are accepted
            assert statuses(visitor, *HEALTH) == [200] * 3


def test_health_and_metrics_answer_however_many_pages_are_live(engine: Engine) -> None:
    request = "GET /api/live HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with visited(here(engine)) as visitor, crowd(visitor.address, 130, request) as pages:
        answers = [answer.split(b" ")[1] for _, answer in pages]
        assert answers == [b"200"] * 64 + [b"503"] * 66
        for _ in range(3):
            assert statuses(visitor, *HEALTH, "/api/streams") == [200] * 4
        assert visitor.get("/api/live") == (503, {"error": "too many pages ask at a time; try again"})


def test_a_request_that_stops_before_its_end_is_given_up(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.server.console_connections.PAUSE_SECONDS_MAX", 0.4)
    with visited(here(engine)) as visitor, crowd(visitor.address, 2, posted(visitor, 8)) as ((coming, _), (silent, _)):
        for letter in b"wrong js":
            time.sleep(0.1)
            coming.sendall(bytes([letter]))
        assert coming.recv(64).startswith(b"HTTP/1.1 400")
        assert ended(silent)


def test_a_connection_that_says_nothing_is_given_up(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.server.console_connections.PAUSE_SECONDS_MAX", 0.1)
    with visited(here(engine)) as visitor, crowd(visitor.address, 1, "POST /livez HTT") as ((silent, _),):
        assert ended(silent)
