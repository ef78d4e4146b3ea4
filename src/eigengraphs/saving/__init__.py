"""The model file: a fit on disk, without pickle."""

from eigengraphs.saving.model import SavedFits, read_model

__all__ = ["SavedFits", "read_model"]
