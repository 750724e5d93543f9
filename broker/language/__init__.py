"""The languages: texts become syntax here, and syntax becomes text again. The algebra gives them meaning.

A folder a language (cayuga, sase, ptopss), each with grammar, parser, syntax and printer, over one expression grammar:
`expression` reads it, `syntax` has its nodes, `printing` writes them. `grammar` runs a parser and words its errors,
`diagnostics` shows their places, `limits` bounds whatever a text may grow. `names` lists the languages, `subscription`
and `subscription_file` are the definitions that carry queries.

Importing this package loads nothing else: a language's own package loads the parser generator.
"""
