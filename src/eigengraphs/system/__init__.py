"""The machine: whole files, limits, threads, random numbers, optional packages."""
