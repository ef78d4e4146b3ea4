"""The parts of :class:`~eigengraphs.JointEmbedding`: checks, decisions, search, messages."""
