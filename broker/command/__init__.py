"""The shell: command lines, the files that they name, and the output. It decides nothing about matching or delivery.

Only this package opens files for the user, and it is the only package of the broker that may use the client. A command
imports only what it needs: `foretell run` never loads zmq, and pyarrow and rich are loaded on first use.
"""
