"""Serving an application until a signal ends it, whenever the signal comes."""

from __future__ import annotations

import os
import signal
import threading

from broker.console.serving import serve_here


async def nothing(scope: object, receive: object, send: object) -> None:
    raise AssertionError("nobody asks")


def test_a_signal_that_comes_with_the_address_ends_it() -> None:
    before = signal.getsignal(signal.SIGTERM)
    addresses: list[str] = []

    def announce(address: str) -> None:
        addresses.append(address)
        signal.raise_signal(signal.SIGTERM)  # uvicorn does not listen yet

    def insist() -> None:
        late.append("it did not end")
        os.kill(os.getpid(), signal.SIGTERM)

    late: list[str] = []
    timer = threading.Timer(10.0, insist)
    timer.start()
    try:
        serve_here(nothing, 0, announce)
    finally:
        timer.cancel()
        signal.signal(signal.SIGTERM, before)
    assert not late
    assert addresses[0].startswith("http://127.0.0.1:")
