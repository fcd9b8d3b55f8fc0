"""How Sphinx builds the manual: `make docs`, which writes build/docs/html.

Pages are Markdown by MyST. The text below a block of code is what `scripts/run_pages.py` found that
the code prints; a build runs only the scripts of `gallery/`, with sphinx-gallery. `results/`
contains the output of long runs.

Needs no network and no data that do not come with the package.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
from sphinx.application import Sphinx

import manymaps

DOCS = Path(__file__).resolve().parent
BUILD = DOCS.parent / "build" / "docs"
sys.path.insert(0, str(DOCS / "extensions"))


def package_digest() -> str:
    """Return a hash of the contents of the package's files."""
    source = Path(manymaps.__file__).parent
    paths = sorted(path for path in source.rglob("*") if path.suffix in (".py", ".js", ".npz"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


# After a change of the package, all figures are drawn again, and pages of removed names deleted.
BUILD.mkdir(parents=True, exist_ok=True)
digest = package_digest()
stamp = BUILD / "made_of"
if not stamp.exists() or stamp.read_text("utf-8") != digest:
    for made in ("pictures", "reference/api"):
        shutil.rmtree(DOCS / made, ignore_errors=True)
    stamp.write_text(digest, "utf-8")

# The demo's atlas, and the page that the home page shows, are created once, in about a minute.
os.environ["MANYMAPS_DEMO"] = str(BUILD / "demo" / "demo.atlas")
if not (BUILD / "demo" / "demo.html").exists():
    subprocess.run(
        [sys.executable, "-m", "manymaps", "demo", "--quiet", "-o", BUILD / "demo"], check=True
    )

project = "manymaps"
author = "The manymaps developers"
copyright = "The manymaps developers"
version = release = manymaps.__version__
language = "en"
smartquotes = False  # they replace the two dashes of an option by one

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_click",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
    "mathml",
]
templates_path = ["templates"]
exclude_patterns = [
    "gallery/**.rst",
    "pictures/**.ipynb",
    "pictures/**.py",
    "extensions",
    "templates",
]
nitpicky = True
suppress_warnings = ["config.cache"]  # functions in the configuration of sphinx-gallery

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autosummary_generate = True
default_role = "code"
autodoc_typehints = "none"  # the sections of numpydoc describe types in words
autodoc_default_options = {
    "members": True,
    # Members of these base classes are left out, because scikit-learn and Python document them.
    "inherited-members": "BaseEstimator, TransformerMixin, ClusterMixin, Exception, RuntimeError, "
    "ValueError, UserWarning, LookupError, KeyError, Figure, AnyWidget, Protocol, Mapping, tuple",
    "exclude-members": "get_metadata_routing, set_fit_request, set_transform_request, "
    "set_score_request, set_predict_request, set_output",
}
toc_object_entries_show_parents = "hide"  # `TSNE.` before each method is wider than the column
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["pictures"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "copyfile_regex": r".*\.(json|txt)$",
    "matplotlib_animations": False,
    "capture_repr": (),
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "subsection_order": [f"gallery/{part}" for part in ("papers", "benchmarks", "figures")],
    "image_scrapers": ("matplotlib", "atlas_pictures.scrape"),
}

html_theme = "pydata_sphinx_theme"
html_title = f"manymaps {release}"
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_js_files = ["copy.js"]
html_extra_path = [str(BUILD / "demo")]
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "manymaps"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}


def quote_examples(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Convert the examples in the help, which are line blocks, to literal blocks, in place."""
    quoted, inside = [], False
    for line in lines:
        is_example = line.startswith("| ")
        if is_example != inside:
            quoted += ["::", ""] if is_example else [""]
        quoted.append(f"    {line[2:]}" if is_example else line)
        inside = is_example
    lines[:] = quoted


def setup(app: Sphinx) -> None:
    """Quote the examples of the commands."""
    app.connect("sphinx-click-process-description", quote_examples)
