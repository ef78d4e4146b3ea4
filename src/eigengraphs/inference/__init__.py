"""From loadings to findings: prediction, group differences, uncertainty, and what they rest on."""

__all__: list[str] = []
