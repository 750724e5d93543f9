"""Law: what is asked. Texts become syntax here, and syntax becomes text again; what a query means is the algebra's.

One grammar file and one module a language (cayuga), over one expression grammar (expression). `syntax` and
`cayuga_syntax` are the trees, `printing` writes them, `diagnostics` makes the errors with their places, `limits` bounds
whatever a text may grow. `subscription` and `subscription_file` are the definitions that carry queries.

Importing this package loads nothing else: the parser generator is loaded by whoever parses.
"""
