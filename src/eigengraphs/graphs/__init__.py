"""What solvers ask of stacks: treated views and their products; and stacks that come in blocks."""
