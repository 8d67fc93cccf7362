"""A toy: one operator, one backend."""
