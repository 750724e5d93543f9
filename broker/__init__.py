"""Foretell's broker. Only this docstring and the version belong here: importing ``broker`` loads nothing else."""

__version__ = "0.1.0"
