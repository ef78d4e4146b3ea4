"""From files to a folder of results: read, check, fit, judge, write."""
