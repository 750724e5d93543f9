"""Groups: one run for all subscriptions of a template that differ in constants.

A group runs its template with the constants unknown. Each constant is a coordinate of a member, and an event that
passes a step only narrows bounds on the coordinates. At the end of a run these bounds select its members among those of
the key. The first lines of each mechanism's file say which templates it runs, and why that is exact.
"""
