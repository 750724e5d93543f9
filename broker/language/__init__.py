"""The languages: parses texts into syntax, and prints syntax as text. `broker.algebra` gives syntax its meaning.

Each language (cayuga, sase, ptopss) is a folder with grammar, parser, syntax and printer. All share one expression
grammar: `expression` reads expressions, `syntax` has their nodes, `printing` writes them. `grammar` runs a parser and
words its errors, `diagnostics` shows their positions, and `limits` limits the size of texts. `names` lists the
languages. `subscription` and `subscription_file` are the definitions that contain queries.

Importing this package loads nothing else; the package of a language loads the parser generator.
"""
