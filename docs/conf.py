"""How Sphinx builds the manual: `make docs`, which writes build/docs/html.

Pages are Markdown by MyST. myst-nb runs each page whose head contains `file_format: mystnb`, in a
folder of its own that contains only `demo.atlas`. All pages use one kernel, whose variables are
deleted between pages. Commands `manymaps` of `%%sh` cells run in the kernel. A cell that fails
fails the build. Outputs are cached in build/docs until the page or the package changes.
sphinx-gallery runs the scripts of `gallery/`. `results/` contains the output of long runs.

Needs no network and no data that do not come with the package.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import click
from jupyter_cache.executors import utils as runs
from sphinx.application import Sphinx

import manymaps

sys.path.insert(0, str(Path(__file__).resolve().parent / "extensions"))
import one_kernel

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
BUILD = ROOT / "build" / "docs"
# The gallery imports one of these scripts.
sys.path.insert(1, str(ROOT / "examples" / "validation"))
# The output of a cell arrives in pieces, which would be shown in separate boxes. On a busy machine,
# a kernel may need minutes to start. myst-nb has no option for either, or for a shared kernel.
runs.executenb = partial(one_kernel.execute, coalesce_streams=True, startup_timeout=600)


def package_digest() -> str:
    """Return a hash of the contents of the package's files."""
    source = Path(manymaps.__file__).parent
    paths = sorted(path for path in source.rglob("*") if path.suffix in (".py", ".js", ".npz"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


# Cells and scripts use the command of this interpreter, and this startup file for kernels.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
os.environ["IPYTHONDIR"] = str(BUILD / "ipython")
os.environ["COLUMNS"] = "100"
os.environ["MANYMAPS_DEMO"] = str(BUILD / "demo" / "demo.atlas")
startup = BUILD / "ipython" / "profile_default" / "startup"
startup.mkdir(parents=True, exist_ok=True)
shutil.copy(DOCS / "extensions" / "kernel_start.py", startup / "manual.py")
# The kernel would warn that its messages on this machine are not encrypted.
(startup.parent / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n", "utf-8")

# After a change of the package, all figures are drawn again, and pages of removed names deleted.
digest = package_digest()
stamp = BUILD / "made_of"
if not stamp.exists() or stamp.read_text("utf-8") != digest:
    for made in ("pictures", "reference/api"):
        shutil.rmtree(DOCS / made, ignore_errors=True)
    stamp.write_text(digest, "utf-8")

# The demo's atlas, and the page that the home page shows, are created once, in about a minute.
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
    "myst_nb",
    "sphinx.ext.viewcode",
    "mathml",
    "shell_cells",
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

nb_execution_mode = "cache"
nb_execution_cache_path = str(BUILD / "cells" / digest)
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_ipywidgets_js = {}  # the pages load nothing over a network
nb_execution_timeout = 600  # seconds per cell, on a busy machine

autosummary_generate = True
# Some file systems cannot store two names that differ only in case.
autosummary_filename_map = {
    f"manymaps.{name.lower()}": f"manymaps.{name.lower()}-function"
    for name in manymaps.__all__
    if name != name.lower() and name.lower() in manymaps.__all__
}
default_role = "code"
viewcode_line_numbers = True
autodoc_typehints = "none"  # the sections of numpydoc describe types in words
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


def source_module(app: Sphinx, module: str, name: str) -> str | None:
    """Link only top-level names to their source, because a source page links back to one module."""
    return None if module == "manymaps" else "manymaps"


def setup(app: Sphinx) -> None:
    """End the kernel of the pages after the build, and link names to their source."""
    app.connect("build-finished", one_kernel.shut_down)
    app.connect("viewcode-follow-imported", source_module)
    app.connect("sphinx-click-process-description", quote_examples)
