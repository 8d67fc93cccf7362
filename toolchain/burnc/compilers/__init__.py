"""C compilers: found, run, and their output read and packed into firmware images."""
