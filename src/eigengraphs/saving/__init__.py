"""The model file: a fit on disk, without pickle."""

from eigengraphs.saving.model import read_model, save_fit

__all__ = ["read_model", "save_fit"]
