"""Backends that run on the host; found through the entry-point group ``burnc.backends``."""
