"""Model files as graphs."""
