"""Code generation: names, kernel rows, lower(graph, board, options) -> Program, the C and the projects around it."""
