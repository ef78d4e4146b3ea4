"""What the machine gives: whole files, limits, threads, random numbers, optional packages."""
