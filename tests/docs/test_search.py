"""The search of the site finds the page that answers a question among its first five results.

The questions are the complaints of 73 threads about contrastive libraries; each row has the words
that a user would type.
"""

import json

import pytest

from docs.questions import QUESTIONS

FIRST = 5
LIST = "questions"
"""The page that only lists questions; a guide has the answer."""
AHEAD = 51
"""Rows whose guide is found before the list of questions. It may only rise."""
FIND = """
(async () => {
  const wait = () => new Promise((done) => setTimeout(done, 50));
  for (let tries = 0; tries < 200 && !Search._index; tries++) await wait();
  const answers = {};
  for (const query of QUERIES) {
    const [words, terms, excluded, highlight, objects] = Search._parseQuery(query);
    const found = Search._performSearch(words, terms, excluded, highlight, objects);
    answers[query] = found.reverse().slice(0, 8).map((one) => one[0]);
  }
  return answers;
})()
"""
SHOWN = """
(async () => {
  const list = () => [...document.querySelectorAll("#search-results li a")];
  const wait = () => new Promise((done) => setTimeout(done, 50));
  for (let tries = 0; tries < 200 && list().length < 5; tries++) await wait();
  return list().slice(0, 5).map((one) => one.getAttribute("href").replace(/\\.html.*/, ""));
})()
"""


@pytest.fixture(scope="module")
def answers(browser, site):
    """What the search of the site finds for all questions."""
    browser.open(site / "search.html")
    queries = json.dumps([query for _, query, _ in QUESTIONS])
    return browser.run(FIND.replace("QUERIES", queries))


def test_there_is_a_row_for_each_of_the_73():
    assert [number for number, _, _ in QUESTIONS] == list(range(1, 74))
    assert all(2 <= len(query.split()) <= 6 for _, query, _ in QUESTIONS)


def test_the_search_finds_every_answer(answers):
    lost = [
        f"{number} {query!r}: wanted {page}, found {answers[query][:FIRST]}"
        for number, query, page in QUESTIONS
        if page not in answers[query][:FIRST]
    ]
    assert lost == []


def test_guides_answer(answers):
    """No row is answered by the list of questions alone, and most find the guide before it."""
    assert LIST not in {page for _, _, page in QUESTIONS}
    ahead = [
        number
        for number, query, page in QUESTIONS
        if page in answers[query] and LIST not in answers[query][: answers[query].index(page)]
    ]
    print(f"{len(ahead)} of {len(QUESTIONS)} find the guide before the list")
    assert len(ahead) >= AHEAD


def test_the_page_shows_what_the_search_finds(browser, site, answers):
    """One question by the search page itself, from a file and without a server."""
    _, query, page = QUESTIONS[13]
    browser.open(site / "search.html", query=f"q={query.replace(' ', '+')}")
    shown = browser.run(SHOWN)
    assert shown == answers[query][:FIRST]
    assert page in shown
