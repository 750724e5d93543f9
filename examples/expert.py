"""What somebody who knows Esper or Flink asks first: `python expert.py`.

Rows that match a pattern and the events in them; what costs something and what is shared; the same thing said in two
languages; and a mistake, answered before anything runs.
"""

from __future__ import annotations

from broker.engine import Engine
from broker.events import ForetellError

# Flink: Pattern.begin("a").followedBy("b").within(10 min); Esper: every a=Tick -> b=Tick(symbol=a.symbol, ...)
V_SHAPE = """
PATTERN SEQ(Tick a, Tick+ fall[], Tick+ rise[])
WHERE partition_contiguity(a, fall[], rise[]) {
  [symbol] AND fall[1].price < a.price AND fall[i].price < fall[i-1].price
  AND rise[1].price > fall[fall.LEN].price AND rise[i].price > rise[i-1].price AND rise[rise.LEN].price > a.price }
WITHIN 10 min
RETURN a.symbol AS symbol, a.price AS before, min(fall[].price) AS bottom, rise[rise.LEN].price AS after
"""
JUMP = "SELECT symbol, price_1, price FROM FILTER{price > %s * price_1}(Tick NEXT{$2.symbol = $1.symbol} Tick)"
PRICES = [("ACME", 20.0), ("ACME", 18.0), ("ACME", 17.5), ("ACME", 19.0), ("ACME", 21.0), ("ACME", 24.0)]


def main() -> None:
    engine = Engine()
    engine.add_stream("Tick", {"symbol": "string", "price": "float"})
    engine.subscribe("v", "sase", V_SHAPE)
    for percent in (5, 10, 15, 20):
        engine.subscribe(f"jump-{percent}", query=JUMP % (1 + percent / 100))
    for match in engine.publish("Tick", [60_000_000 * minute for minute in range(len(PRICES))], PRICES):
        print(match.subscription, match.bindings or "", match.data)
    print(engine.explain()[1])

    try:
        odd = "PATTERN SEQ(Tick a, Tick+ b[]) WHERE skip_till_any_match(a, b[]) { b.price > 3 }"
        engine.subscribe("odd", "sase", odd)
    except ForetellError as error:
        print(error)


if __name__ == "__main__":
    main()
