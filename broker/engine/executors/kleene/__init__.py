"""SASE+ patterns: runs of patterns with Kleene parts and negations, and their matches (SASE+ 4, 5).

    SEQ(A+ a[], B b)    a1 --- a2 --- a3 --- b
    runs                a1, a1 a2, a2, a1 a2 a3, ..     share what they have in common: an event is a link, not a set

It keeps runs as rows of numbers where conditions ask for measures only (a count, a sum, the first and the last event),
as links to shared pasts, or one by one. An event costs a visit of the runs of its key; matches are made when they are
read. Here: machines, one for each subscription. Not here: the lanes that pass them events (dispatch), facts about an
automaton (broker.automaton.analyses).
"""
