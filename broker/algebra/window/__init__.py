"""Window expressions: the typed form, lowering to it, what aggregates compute, and the executable meaning."""
