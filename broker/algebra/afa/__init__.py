"""AFA, register automata over disordered streams: the typed form, its lowering, and its executable meaning."""
