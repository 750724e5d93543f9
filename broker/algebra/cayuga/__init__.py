"""The meaning of CEL: its lowering from syntax, and its executable semantics, the reference for every test."""
