"""KernelIR: structured loops over typed expressions, traced from operators' bodies, rendered for each target."""
