"""One file per command: its function takes the options and returns what there is to say."""
