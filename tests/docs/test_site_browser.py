"""The site in a real browser: it asks nobody, draws its formulas, fits a phone and can be read."""

import pytest

from report.contrast import UNREADABLE

LOOKED_AT = (
    "index",
    "ten-minutes",
    "data",
    "health",
    "evaluation",
    "results",
    "paper",
    "decisions/0003-one-softmax",
)
FORMULAS = """
(async () => {
  if (!document.querySelector(".math")) return { asked: 0, drawn: 0, wrong: [] };
  await MathJax.startup.promise;
  const wrong = [...document.querySelectorAll("[data-mjx-error]")].map((one) => one.textContent);
  const asked = document.querySelectorAll("span.math, div.math").length;
  const drawn = [...document.querySelectorAll(".math")].filter((one) => one.querySelector("svg"));
  return { asked, drawn: drawn.length, wrong };
})()
"""
WIDE = """
[...document.querySelectorAll("body *")]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
  .filter((one) => !one.closest(".sidebar-drawer, .toc-drawer, .table-wrapper, .highlight"))
  .slice(0, 5).map((one) => one.tagName + "." + one.className)
"""


@pytest.fixture(scope="module")
def pages(site):
    found = {
        str(file.relative_to(site).with_suffix("")): file
        for file in site.rglob("*.html")
        if not file.relative_to(site).parts[0].startswith("_")
    }
    assert len(found) > 50
    return found


def test_no_page_asks_elsewhere_or_scrolls_sideways_and_every_formula_is_drawn(browser, pages):
    """On a phone, every page that is not a decision, and one in eight of those."""
    decisions = [name for name in pages if name.startswith("decisions/")]
    browser.look(390, 844, dark=False)
    drawn = 0
    for name in sorted(set(pages) - set(decisions)) + decisions[::8]:
        browser.open(pages[name])
        formulas = browser.run(FORMULAS)
        assert formulas["wrong"] == [], name
        assert formulas["drawn"] == formulas["asked"], name
        drawn += formulas["drawn"]
        width = browser.run("document.documentElement.scrollWidth")
        assert width <= 390, (name, width, browser.run(WIDE))
        asked = [url for url in browser.requests() if not url.startswith(("file:", "data:"))]
        assert asked == [], name
        assert browser.complaints() == [], name
    assert drawn > 100


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_can_be_read(browser, pages, dark):
    browser.look(1280, 900, dark=dark)
    for name in LOOKED_AT:
        browser.open(pages[name])
        browser.run(FORMULAS)
        found = browser.run(UNREADABLE)
        assert found["checked"] > 20
        assert found["bad"] == [], name


def test_figures_are_dark_in_the_dark(browser, pages):
    """A chart drawn on white is turned over; photos are not."""
    filters = (
        "[...document.querySelectorAll('.content img')]"
        ".map((one) => [one.src.slice(-3), getComputedStyle(one).filter])"
    )
    for dark in (False, True):
        browser.look(1280, 900, dark=dark)
        browser.open(pages["results"])
        found = [value for kind, value in browser.run(filters) if kind == "svg"]
        assert len(found) >= 5
        assert all(("invert" in value) == dark for value in found)
    browser.open(pages["views"])
    assert {value for _, value in browser.run(filters)} == {"none"}


def test_a_code_block_is_copied_without_its_prompt(browser, pages):
    browser.look(1280, 900, dark=False)
    browser.open(pages["ten-minutes"])
    assert browser.run("document.querySelectorAll('button.copybtn').length") > 3
