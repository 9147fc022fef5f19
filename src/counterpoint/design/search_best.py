"""The best of a search: what is new in it, and the best of a random one."""

from pathlib import Path

from counterpoint.design.candidate import Candidate
from counterpoint.design.candidate_settings import is_known
from counterpoint.design.design_settings import differing
from counterpoint.design.evolution import ranked
from counterpoint.design.search_files import read_design, whole_core_hours
from counterpoint.design.searched import Searched

COST_SHARE = 0.1  # by which a random search may differ: about a round of ten


def new_methods(found: Searched) -> list[Candidate]:
    """Return the candidates that are not known methods, the best first."""
    best = [one.candidate for one in ranked(found.judged())]
    return [one for one in best if not is_known(one)]


def best_of_random(place: Path, found: Searched) -> Candidate:
    """Return the best of a random search, which must have had the same settings and cost."""
    other = read_design(place)
    if other.settings.strategy != "random":
        raise ValueError(
            f"design: {place} is not a random search; counterpoint design --strategy random is one"
        )
    free = {"strategy", "seed", "earlier"}
    if unlike := [name for name in differing(found.settings, other.settings) if name not in free]:
        raise ValueError(
            f"design: {place} has other settings ({', '.join(unlike)}); search at random with the "
            "options of the search"
        )
    whole = whole_core_hours(found)
    if abs(other.core_hours - whole) > COST_SHARE * whole:
        raise ValueError(
            f"design: {place} took {other.core_hours:.3g} core-hours and the search {whole:.3g}, "
            "earlier ones included; they have to be within 10 %: continue the shorter one"
        )
    best = new_methods(other)
    if not best:
        raise ValueError(f"design: {place} has no finished candidate; search longer")
    return best[0]
