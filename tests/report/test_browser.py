"""The report in a real browser: nothing fails, everything fits, and everything answers."""

import json

import pytest

from counterpoint.report import write_report
from report.browser import Browser, chromium
from report.contrast import UNREADABLE
from report.example import write_evaluation, write_health, write_run, write_weights

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="there is no chromium; on Debian: apt-get install chromium"
)

METHODS = ("simclr-small", "yadim-small")


@pytest.fixture(scope="module")
def pages(cifar, tmp_path_factory):
    """One run, and two side by side, with every record and with images."""
    place = tmp_path_factory.mktemp("pages")
    folders = [write_weights(place / "one"), write_weights(place / "two", method="yadim-small")]
    for folder, method, good in zip(folders, METHODS, (0.64, 0.55), strict=True):
        write_run(folder, method=method, good=good)
        write_health(folder, good=good)
        write_evaluation(folder, good=good)
    return {
        "one": write_report(folders[:1], place / "one.html", data=cifar, images=150),
        "two": write_report(folders, place / "two.html", data=cifar, images=150),
    }


@pytest.fixture(scope="module")
def opened():
    """One browser for all tests."""
    with Browser() as one:
        yield one


@pytest.fixture
def browser(opened, pages):
    """The page of one run, on a desk."""
    opened.look(1280, 900, dark=False)
    opened.open(pages["one"])
    return opened


@pytest.mark.parametrize("page", ["one", "two"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_nothing_fails(page, width, scheme, pages, opened):
    opened.look(width, 900, dark=scheme == "dark")
    opened.open(pages[page])
    assert opened.run("innerWidth") == width
    assert opened.run("document.documentElement.scrollWidth") <= width
    broken = "[...document.images].filter((i) => !i.complete || !i.naturalWidth).length"
    assert opened.run("document.images.length") > 70
    assert opened.run(broken) == 0
    paper = {"light": "rgb(246, 244, 238)", "dark": "rgb(16, 19, 24)"}[scheme]
    assert opened.run("getComputedStyle(document.body).backgroundColor") == paper
    found = opened.run(UNREADABLE)
    assert found["checked"] > 300
    assert found["bad"] == []
    assert opened.complaints() == []
    assert {address.split(":")[0] for address in opened.requests()} == {"file", "data"}


def test_complaints_would_be_heard(opened, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<body style='background:#fff'><p style='color:#999'>pale</p>"
        "<script>console.error('x'); missing()</script><img src='none.png'>"
    )
    opened.open(page)
    assert len(opened.complaints()) >= 2
    assert opened.run(UNREADABLE)["bad"] == [": pale"]


def centre(browser, query):
    return browser.run(
        f"""(() => {{
          const node = document.querySelector({json.dumps(query)});
          node.scrollIntoView({{ block: "center", behavior: "instant" }});
          const box = node.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }})()"""
    )


def test_pointing_at_a_chart_tells_its_value(browser, pages):
    x, y = centre(browser, "#curves .chart")
    browser.point(x + 2, y)
    told = browser.run("document.querySelector('#curves .tip').innerText").split("\n")
    rows = [
        line.split(",") for line in (pages["one"].parent / "one/metrics.csv").read_text().split()
    ]
    losses = {f"step {int(step)}": float(loss) for _, loss, step in rows[1:]}
    assert float(told[1]) == pytest.approx(losses[told[0]], rel=1e-4)
    browser.point(1, 1)
    assert browser.run("document.querySelector('#curves .tip').hidden")


def test_a_chart_is_read_by_the_keys(browser):
    browser.run("document.querySelector('#curves .chart').focus()")
    told = []
    for _ in range(3):
        browser.key("ArrowRight")
        told.append(browser.run("document.querySelector('#curves .tip').innerText").split("\n")[0])
    assert told == ["step 25", "step 50", "step 75"]
    browser.key("Escape")
    assert browser.run("document.querySelector('#curves .tip').hidden")


def shown(browser):
    return browser.run("[...document.querySelectorAll('.card .tn-word')].map((w) => w.textContent)")


def test_the_map_shows_an_image_and_its_neighbours(browser):
    centre(browser, ".map")
    data = browser.run("JSON.parse(document.getElementById('map-data').textContent)")
    place = """(() => {
      const map = document.querySelector(".map"), box = map.getBoundingClientRect();
      return [box.left, box.top, box.width / map.viewBox.baseVal.width];
    })()"""
    left, top, scale = browser.run(place)
    number = 17
    x, y = data["runs"][0]["at"][number]
    browser.point(left + scale * x, top + scale * y)
    names = [data["names"][label] for label in data["labels"]]
    near = data["runs"][0]["near"][number]
    assert shown(browser) == [names[n] for n in (number, *near)]
    assert browser.run("document.querySelectorAll('.map .links line').length") == 6
    browser.point(1, 1)
    assert browser.run("document.querySelectorAll('.map .links line').length") == 0


def test_the_map_is_walked_by_the_keys(browser):
    browser.run("document.querySelector('.map').focus()")
    for _ in range(3):
        browser.key("ArrowRight")
    ends = "Number(document.querySelector('.map .halo circle:last-child').getAttribute('cx'))"
    before = browser.run(ends)
    browser.key("ArrowRight")
    assert browser.run(ends) > before
    browser.key("Escape")
    assert browser.run("document.querySelectorAll('.map .halo circle').length") == 0


def test_the_legend_picks_out_a_kind(browser):
    faint = """[...document.querySelectorAll(".map .dots")].map(
      (one) => getComputedStyle(one).fillOpacity < 0.1)"""
    assert not any(browser.run(faint))
    browser.run("document.querySelector('[data-show=\"3\"]').click()")
    assert browser.run(faint) == [n != 3 for n in range(10)]
    browser.run("document.querySelector('[data-show=\"3\"]').click()")
    assert not any(browser.run(faint))


def test_focus_is_seen(browser):
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")
    widths = []
    for _ in range(4):
        browser.key("Tab")
        style = "getComputedStyle(document.activeElement)"
        widths.append(browser.run(f"{style}.outlineStyle + ' ' + {style}.outlineWidth"))
    assert widths == ["solid 3px"] * 4


def test_paper_is_white_and_unfolded(opened, pages):
    opened.look(1280, 900, dark=True)
    opened.open(pages["two"])
    opened.media("print")
    opened.run("dispatchEvent(new Event('beforeprint'))")
    assert opened.run("[...document.querySelectorAll('details')].every((d) => d.open)")
    assert opened.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert opened.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.run(UNREADABLE)["bad"] == []


def test_a_name_that_is_code_stays_a_name(opened, cifar, tmp_path):
    bad = "<img src=x onerror='window.hacked=1'><script>window.hacked=1<"
    folder = write_weights(tmp_path / bad)
    write_health(folder, verdict=bad)
    page = write_report([folder], tmp_path / "report.html", data=cifar, images=50)
    opened.open(page)
    assert opened.run("typeof window.hacked") == "undefined"
    assert bad in opened.run("document.body.innerText")
    assert opened.complaints() == []
