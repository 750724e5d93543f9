"""What a burst of large frames took is given back, where there is a way to say so."""

from __future__ import annotations

import ctypes

import pytest
from doubles.broker_process import python_process

from broker.server.allocation import Trimming, give_large_blocks_back

# Blocks between small ones that live on, as frames come in between other things.
BURST = """
    import os
    from broker.server.allocation import give_large_blocks_back
    give_large_blocks_back()
    first = bytearray(1 << 20)
    del first
    kept = []
    large = []
    for _ in range(100):
        large.append(b"x" * (1 << 20))
        kept.append(b"y" * 600)
    before = int(open("/proc/self/statm").read().split()[1])
    del large
    after = int(open("/proc/self/statm").read().split()[1])
    print((before - after) * os.sysconf("SC_PAGE_SIZE") >> 20, flush=True)
"""

# Too small to be mapped each, so that they leave holes in a heap.
HOLES = """
    import os
    from broker.server.allocation import Trimming
    resident = lambda: int(open("/proc/self/statm").read().split()[1])
    kept = []
    small = []
    for _ in range(1_000):
        small.append(b"x" * 60_000)
        kept.append(b"y" * 600)
    before = resident()
    del small
    trimming = Trimming()
    assert trimming.trim_if_due()
    assert not trimming.trim_if_due(), "it is not time yet"
    print((before - resident()) * os.sysconf("SC_PAGE_SIZE") >> 20, flush=True)
"""


def test_a_burst_is_given_back() -> None:
    with python_process(BURST) as process:
        out, complaint = process.communicate(timeout=60)
    assert complaint == ""
    if hasattr(ctypes.CDLL(None), "mallopt"):
        assert int(out) >= 90


def test_holes_are_given_back() -> None:
    with python_process(HOLES) as process:
        out, complaint = process.communicate(timeout=60)
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        assert complaint == ""
        assert int(out) >= 30


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert give_large_blocks_back() is False
    assert Trimming().trim_if_due() is False
