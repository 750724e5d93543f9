"""The shell. What a person types, which files it names, and what the terminal shows; nothing is decided here.

The only package that opens files for the user, and the only one of the broker's that may use the client. What a command
does not need is not imported: `foretell run` never loads zmq, and pyarrow and rich are loaded when they are asked for.
"""
