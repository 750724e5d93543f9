"""The generator of P-ToPSS's experiments: its defaults, its quotas, and that its subscriptions are P-ToPSS."""

from __future__ import annotations

from collections import Counter

from benchmarks.composite_workload import Chain, Settings, relevant, stream, subscriptions
from broker.language import ptopss


def test_subscriptions_are_the_papers() -> None:
    settings = Settings(count=200)
    chains = subscriptions(settings)
    assert all(len(chain.primitives) == 10 and len(chain.terms) == 3 for chain in chains)
    assert set(Counter(kind for chain in chains for kind in chain.primitives)) == set(range(50))
    assert subscriptions(Settings(count=20)) == chains[:20]
    ptopss.parse(chains[0].ptopss())


def test_a_subscription_is_written_with_an_operand_a_primitive() -> None:
    text = Chain(((7, 8), (7,))).ptopss()
    assert text == "FROM Event\ns1: kind = 7\ns2: kind = 8\ns3: kind = 7\nMATCH s1, s2; s3"


def test_gaussian_primitives_crowd_in_the_middle() -> None:
    chains = subscriptions(Settings(count=500, primitives="gaussian"))
    counts = Counter(kind for chain in chains for kind in chain.primitives)
    assert sum(counts[kind] for kind in range(17, 33)) > 0.6 * counts.total()
    assert set(counts) <= set(range(50))


def test_the_stream_ends_when_all_quotas_are_met() -> None:
    settings = Settings(count=5, partial=3, full=2, gaps=0)
    chains = [Chain((tuple(range(10 * n, 10 * n + 10)),)) for n in range(5)]
    events = list(stream(settings, chains))
    counts = Counter(events)
    assert all(counts[10 * n] == 5 for n in range(5))  # full and partial ones
    assert all(counts[10 * n + 9] == 2 for n in range(5))  # full ones only
    assert events == list(stream(settings, chains))


def test_most_of_the_stream_is_irrelevant() -> None:
    settings = Settings(count=20, partials="gaussian")
    events = list(stream(settings, subscriptions(settings)))
    assert 0.84 < events.count(settings.pool) / len(events) < 0.9
    assert max(relevant(settings, 1000)) < settings.pool
