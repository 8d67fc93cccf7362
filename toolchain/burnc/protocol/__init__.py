"""What host and firmware say to each other over a serial line; docs/protocol.md is the specification."""
