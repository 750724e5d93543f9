"""The speculative executor: register automata over events that come late, are withdrawn, or change their arcs (AFA).

Runs are stored beside the events, in the order of event times. A late event, a withdrawal and a changed arc each cause
one repair, which stops when nothing changes any more. Here: events, runs, and the repair of both.
"""
