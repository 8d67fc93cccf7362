"""Memory planning: a pure function of lifetimes, safe overlaps and scratch, which it receives as data."""

from burnc.memory.lifetimes import Overlap, Piece, Request, lower_bound
from burnc.memory.planner import ArenaPlan, plan_arena
from burnc.memory.room import widest_gap

__all__ = ["ArenaPlan", "Overlap", "Piece", "Request", "lower_bound", "plan_arena", "widest_gap"]
