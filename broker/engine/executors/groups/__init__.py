"""Groups: one run for all subscriptions of a template that differ in constants.

A group runs its template with the constants unknown. Each constant is a coordinate of a member, and an event that
passes a step only narrows bounds on the coordinates; whom a run is for is asked where it ends, of the members of the
key. A file is a mechanism: which templates it runs, and why that is exact, is in its head.
"""
