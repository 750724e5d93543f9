"""Groups: one run for all subscriptions of a template that differ in constants.

    members of 'IBM'    (110, 108)  (115, 105)  (120, 101)        price > p, then price < q, as points (p, -q)
    price 118           one run, with the bound p <= 118
    price 104           the bounds p <= 118, -q <= -104: one search finds (110, 108) and (115, 105)

It keeps the members of a key as points, and runs of which the constants are unknown. An event that passes a step only
narrows the bounds on the coordinates; at the end of a run they select its members. An event costs the same for ten
members as for ten thousand, plus its matches. The first lines of each mechanism's file say which templates it runs, and
why that is exact.
"""
