"""How the site is built: Sphinx with Furo. `scripts/docs` calls it; decision 0043 says why."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "src"), str(HERE / "extensions")]

from counterpoint.version import VERSION  # noqa: E402 (the path is set above)

project = "Counterpoint"
author = "The Counterpoint developers"
project_copyright = author
release = VERSION

extensions = [
    "myst_parser",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "docstrings",
    "page_links",
]
exclude_patterns = ["results/*.md", "extensions", "_static"]
nitpicky = True
# What torch and Lightning write about a method is not repeated.
autodoc_inherit_docstrings = False

# Pages are Markdown that reads well on the host of a repository too, so few extensions are on.
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_links_external_new_tab = False

html_theme = "furo"
html_title = "Counterpoint"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_show_sphinx = False
html_theme_options = {
    "navigation_with_keys": True,
    "top_of_page_buttons": [],
    "light_css_variables": {"color-brand-primary": "#0b5394", "color-brand-content": "#0b5394"},
    "dark_css_variables": {"color-brand-primary": "#8ab8e6", "color-brand-content": "#8ab8e6"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

# One file that draws formulas as SVG and asks for nothing else: docs/_static/mathjax.
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}

# `$ command` is copied without its prompt, and without what it prints.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
