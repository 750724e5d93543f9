"""Traces of a real broker, as a receiver of OTLP over HTTP gets them; and brokers whose receiver is missing or silent.

Run by test_installation in an environment that has the extra `otel`, whose package has the messages of the protocol.
"""

from __future__ import annotations

import gzip
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (  # type: ignore[import-not-found,unused-ignore]
    ExportTraceServiceRequest,
)

from client import Client

PATIENCE = 60
STOP_SECONDS_MAX = 15.0
ANSWER_SECONDS_MAX = 8.0
"""Less than an exporter waits for its receiver."""
BATCHES = 300


class Receiver(BaseHTTPRequestHandler):
    """Takes what is exported, as `(path, service, span)`."""

    found: ClassVar[list[tuple[str, str, Any]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            named = {each.key: each.value.string_value for each in resource.resource.attributes}
            service = named["service.name"]
            self.found.extend((self.path, service, span) for scope in resource.scope_spans for span in scope.spans)
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *values: Any) -> None:
        """Nothing is logged."""


@contextmanager
def broker(endpoint: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A broker that traces every batch, with a journal; its address. It must end in time when it is told to."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "foretell.toml")
        settings.write_text('address = "tcp://127.0.0.1:0"\n[traces]\nevery = 1\n[journal]\npath = "data"\n')
        settings.chmod(0o600)
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        command = [sys.executable, "-m", "broker.command", "serve", "--config", str(settings)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip().rpartition(" ")[2], process
                began = time.monotonic()
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=PATIENCE)
                assert process.returncode == 0
                assert time.monotonic() - began < STOP_SECONDS_MAX, time.monotonic() - began
            finally:
                process.kill()


def published(address: str, batches: int) -> float:
    """Publish batches of two events; the longest wait for an answer, in seconds."""
    longest = 0.0
    with Client(address, PATIENCE) as client:
        client.add_stream("S", {"x": "int"})
        with client.subscribe("all", query="SELECT * FROM S") as reader:
            for batch in range(batches):
                began = time.monotonic()
                client.publish_batch("S", [batch] * 2, [(1,), (2,)])
                longest = max(longest, time.monotonic() - began)
                for x in (1, 2):
                    found = reader.next(timeout=PATIENCE)
                    assert found is not None
                    assert found.data["x"] == x
    return longest


def received() -> None:
    """A receiver gets the spans of a batch, those within it with the batch's span as their parent."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with broker(f"http://127.0.0.1:{server.server_port}") as (address, _):
            published(address, 3)
        server.shutdown()
    assert {(path, service) for path, service, _ in Receiver.found} == {("/v1/traces", "foretell")}
    spans = [span for _, _, span in Receiver.found]
    roots = [span for span in spans if span.name == "publish"]
    assert len(roots) == 3
    for root in roots:
        assert root.parent_span_id == b""
        attributes = {each.key: each.value for each in root.attributes}
        assert attributes["foretell.stream"].string_value == "S"
        assert attributes["foretell.events"].int_value == 2
        parts = [span for span in spans if span.parent_span_id == root.span_id]
        assert sorted(span.name for span in parts) == ["journal", "match", "notify"]
        for span in parts:
            assert span.trace_id == root.trace_id
            assert root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
            assert span.end_time_unix_nano <= root.end_time_unix_nano
    assert len(spans) == 4 * len(roots)


def silent(endpoint: str, what: str) -> None:
    """Without a receiver that answers, a broker answers its clients, and ends when it is told to."""
    with broker(endpoint) as (address, process):
        longest = published(address, BATCHES)
        assert longest < ANSWER_SECONDS_MAX, longest
        assert process.poll() is None
    print(f"{what}: the longest of {BATCHES} answers took {1_000 * longest:.0f} ms")


def main() -> None:
    """All of these."""
    received()
    with socket.create_server(("127.0.0.1", 0)) as listener:  # takes connections, and never reads
        silent(f"http://127.0.0.1:{listener.getsockname()[1]}", "a receiver that is silent")
        port = listener.getsockname()[1]
    silent(f"http://127.0.0.1:{port}", "no receiver")


if __name__ == "__main__":
    main()
