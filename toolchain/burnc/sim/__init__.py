"""Boards without hardware: firmware runs on an emulated chip, strictly, and talks to the host over its UART."""
