/* How the search orders its results: guides before reference, reference before decisions and history. */
var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    if (page.startsWith("about/changelog")) return score - 60;
    if (page.startsWith("decisions")) return score - 40;
    if (page.startsWith("about/")) return score - 20;
    if (page.startsWith("api/")) return score - 30;
    if (page.startsWith("gallery/")) return score - 10;
    if (page.startsWith("methods/")) return score - 1; // behind a guide that has the words in a title too
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
