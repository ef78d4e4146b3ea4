"""How the site is built: ``make docs``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import eigengraphs

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "eigengraphs"
author = "The eigengraphs developers"
copyright = author  # noqa: A001
version = release = eigengraphs.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "plain_docstrings",
    "repository_links",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",  # the site reads nothing from elsewhere
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "ideas/pictures"]
templates_path = ["_templates"]
nitpicky = False  # links that are written are checked; types in docstrings are prose
suppress_warnings = ["config.cache"]  # sphinx-gallery's functions in the configuration

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False  # what is public is what __all__ says
autodoc_typehints = "none"  # kinds and shapes are in the docstrings
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

smartquotes = False  # quotes belong to code here, as in diagonal="auto"
toc_object_entries_show_parents = "hide"  # the page says whose methods they are

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "eigengraphs"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Pages without a chapter of their own need no bar of one.
html_sidebars = {"index": []}


def _has_data() -> bool:
    """Tell whether the data sets that are not bundled are here; nothing is downloaded."""
    folder = os.environ.get("EIGENGRAPHS_DATA")
    return folder is not None and Path(folder).is_dir()


_NEED_DATA = ("flights", "trade", "wiki")
_executed = "plot_" if _has_data() else rf"plot_(?!{'|'.join(_NEED_DATA)})"

sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["auto_gallery"],
    "filename_pattern": _executed,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "matplotlib_animations": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1_000_000,
    "plot_gallery": "True",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "copyfile_regex": "",
    "reference_url": {},
}
