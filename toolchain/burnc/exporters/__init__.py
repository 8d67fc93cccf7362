"""Graphs as model files."""
