"""Studies of groups: designs, tests of loadings, and what they say of edges, regions and sites."""
