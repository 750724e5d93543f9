"""Print falls of a price by more than 2 % until the day ends: `python subscriber.py [ADDRESS]`.

A client must declare a stream before it subscribes to it; declaring an equal stream twice is no error.
"""

from __future__ import annotations

import sys

from client import DEFAULT_ADDRESS, Client

FALL = """
SELECT name, price_1 AS before, price AS after
FROM FILTER{price < 0.98 * price_1}(Stock NEXT{$2.name = $1.name} Stock)
"""
CLOSE = "SELECT name FROM FILTER{name = 'CLOSE'}(Stock)"


def main() -> None:
    with Client(sys.argv[1] if len(sys.argv) > 1 else DEFAULT_ADDRESS) as client:
        client.add_stream("Stock", {"name": "string", "price": "float"})
        with client.subscribe("falls", query=FALL) as falls, client.subscribe("close", query=CLOSE) as close:
            print("subscribed", flush=True)
            close.next()
            # The broker found all falls before the close. Those beyond the window arrive as the others are read.
            while (fall := falls.next(timeout=1)) is not None:
                print(f"{fall.data['name']}: {fall.data['before']:.2f} -> {fall.data['after']:.2f}")


if __name__ == "__main__":
    main()
