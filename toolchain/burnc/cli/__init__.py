"""The command line: a thin skin over ``burnc.model``. One file a command, each with a ``command`` in it."""
