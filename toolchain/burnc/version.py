"""The version of burnc, in one place."""

VERSION = "0.1.0"
