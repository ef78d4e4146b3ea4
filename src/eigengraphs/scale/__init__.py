"""Past one machine's memory: graphs on a disk, and on a cluster."""
