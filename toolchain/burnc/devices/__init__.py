"""Boards, emulated or real, as devices that run graphs."""
