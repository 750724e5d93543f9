"""The speculative executor: register automata over events that come late, are withdrawn, or change their arcs (AFA).

What is recognised is kept beside the events, in the order of their times: a late event, a withdrawal and a changed arc
are one repair, which stops where nothing changes any more. Here: events, what is recognised, and what becomes of both.
"""
