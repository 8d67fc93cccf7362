"""Firmware onto boards: serial ports, the resident bootloader, USB drives. Knows boards and bytes, never a network."""
