"""What the console and the playground share as pages in a browser: requests that are let in, files that are sent.

`assets` holds the pages themselves: plain HTML, one style sheet and modules that a browser runs as they are. Not here:
what they show (server.console, command.playground). It needs the extra `foretell[console]`.
"""
