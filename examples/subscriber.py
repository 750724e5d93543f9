"""A client that subscribes: `python subscriber.py [ADDRESS]`. Shows falls of a price by over 2 % until the day ends.

The broker must know the stream before somebody subscribes to it; declaring it twice is no error.
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
            # All falls were found before the close; those beyond the window come as the others are read.
            while (fall := falls.next(timeout=1)) is not None:
                print(f"{fall.data['name']}: {fall.data['before']:.2f} -> {fall.data['after']:.2f}")


if __name__ == "__main__":
    main()
