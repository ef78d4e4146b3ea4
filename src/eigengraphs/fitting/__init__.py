"""What :class:`~eigengraphs.JointEmbedding` asks of others: checks, decisions, search, words."""
