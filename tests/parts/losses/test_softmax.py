"""The fast softmax against the loops, values and gradients, in float64."""

from dataclasses import replace
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoint.framework import Scores
from counterpoint.parts.losses.reductions import LogSumExp, SoftplusSum, SquareSum
from counterpoint.parts.losses.softmax import hardest, positives, summarise
from counterpoint.parts.losses.tiles import walk
from reference import softmax as reference

CASES = settings(max_examples=250, deadline=None, derandomize=True)


@st.composite
def cases(draw, *, shared, narrowest=1):
    """Scores with ragged positives, anchors without any, and the own vectors anywhere."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    n, width = draw(st.integers(1, 7)), draw(st.integers(narrowest, 5))
    before, after = draw(st.integers(0, 3)), draw(st.integers(0, 4))
    own = shared or draw(st.booleans())
    tau = draw(st.sampled_from([1.0, 0.5, 0.1, 0.01]))
    images = draw(st.integers(1, 6))

    def vectors(count):
        z = torch.randn(count, width, generator=generator, dtype=torch.float64)
        return torch.nn.functional.normalize(z, dim=1) / tau**0.5

    def identities(count):
        return torch.randint(images, (count,), generator=generator)

    anchors, anchor_identity = vectors(n), identities(n)
    middle = (anchors, anchor_identity) if own else (vectors(n), identities(n))
    outer = [(vectors(k), identities(k)) for k in (before, after)]
    parts = [outer[0], middle, outer[1]]
    return {
        "anchors": anchors,
        "candidates": torch.cat([p[0] for p in parts]),
        "anchor_identity": anchor_identity,
        "candidate_identity": torch.cat([p[1] for p in parts]),
        "itself": before if own else None,
        "shared": shared,
        "clip": draw(st.sampled_from([None, None, 10.0, 0.7])),
    }, draw(st.integers(1, 5))


def leaves(case):
    """Anchors and candidates that gradients can be read from; one tensor where shared."""
    anchors = case["anchors"].clone().requires_grad_()
    if not case["shared"]:
        return anchors, case["candidates"].clone().requires_grad_(), None
    start, stop = case["itself"], case["itself"] + len(anchors)
    rest = case["candidates"].clone().requires_grad_()
    return anchors, torch.cat([rest[:start], anchors, rest[stop:]]), rest


def both(case, tile, summarise, *reduce_negatives):
    """Run the fast code and the loops; give their values and gradients under random weights."""
    results = []
    for fast in (True, False):
        anchors, candidates, rest = leaves(case)
        keys = ("anchor_identity", "candidate_identity", "itself", "clip")
        given_ = {key: case[key] for key in keys}
        if fast:
            out = summarise(
                Scores(anchors=anchors, candidates=candidates, shared=case["shared"], **given_),
                tile=tile,
            )
            positive, negative = out.positive, torch.cat(out.negatives)
        else:
            rows = reference.summary(anchors, candidates, **given_)
            flat = [s for row in rows for s in row[0]]
            positive = torch.stack(flat) if flat else anchors.new_zeros(0)
            each = [reduce(row[1]) for reduce in reduce_negatives for row in rows]
            negative = torch.stack(each)
        finite = negative[negative.isfinite()]
        weights = torch.linspace(-1, 2, len(positive) + len(finite), dtype=torch.float64)
        nothing = 0 * (anchors.sum() + candidates.sum())  # so that there always is a graph
        ((torch.cat([positive, finite]) * weights).sum() + nothing).backward()
        leaf = [anchors, candidates if rest is None else rest]
        grads = [t.grad if t.grad is not None else torch.zeros_like(t) for t in leaf]
        results.append([positive.detach(), negative.detach(), *grads])
    return results


def assert_equal(results):
    for fast, slow in zip(*results, strict=True):
        scale = max([1.0, *slow[slow.isfinite()].abs().tolist()])
        torch.testing.assert_close(fast, slow, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("shared", [True, False])
def test_logsumexp_equals_the_loops(shared):
    @CASES
    @given(case_and_tile=cases(shared=shared))
    def check(case_and_tile):
        case, tile = case_and_tile
        assert_equal(both(case, tile, summarise, reference.log_sum_exp))

    check()


REDUCTIONS = {
    LogSumExp(scale=2.5): reference.scaled_log_sum_exp(2.5),
    SoftplusSum(): reference.softplus_sum,
    LogSumExp(): reference.log_sum_exp,
    SquareSum(): reference.square_sum,
}


@pytest.mark.parametrize("bound", [None, 100.0])
@pytest.mark.parametrize("shared", [True, False])
def test_several_reductions_of_one_walk_equal_the_loops(shared, bound):
    def together(scores, tile):
        return summarise(replace(scores, bound=bound), over=tuple(REDUCTIONS), tile=tile)

    @settings(CASES, max_examples=100)
    @given(case_and_tile=cases(shared=shared))
    def check(case_and_tile):
        case, tile = case_and_tile
        assert_equal(both(case, tile, together, *REDUCTIONS.values()))

    check()


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=str)
def test_a_reduction_by_itself_equals_the_loops(reduction):
    @settings(CASES, max_examples=50)
    @given(case_and_tile=cases(shared=True))
    def check(case_and_tile):
        case, tile = case_and_tile
        alone = partial(summarise, over=(reduction,))
        assert_equal(both(case, tile, alone, REDUCTIONS[reduction]))

    check()


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=str)
def test_rows_of_scores_give_the_same_as_a_walk(reduction):
    torch.manual_seed(0)
    z, whose = torch.randn(6, 3, dtype=torch.float64), torch.tensor([0, 1, 2, 0, 1, 2])
    scores = Scores(anchors=z, candidates=z, anchor_identity=whose, candidate_identity=whose)
    rows = reduction.of_rows(z @ z.T, whose[:, None] != whose)
    torch.testing.assert_close(summarise(scores, over=(reduction,)).negative, rows)


@pytest.mark.parametrize("shared", [True, False])
def test_hardest_equals_the_loops(shared):
    def largest(values):
        none = torch.tensor(-torch.inf, dtype=torch.float64)
        return max(values, key=lambda v: v.item()) if values else none

    @settings(CASES, max_examples=100)
    @given(case_and_tile=cases(shared=shared, narrowest=2))  # one channel is full of ties
    def check(case_and_tile):
        case, tile = case_and_tile
        assert_equal(both(case, tile, hardest, largest))

    check()


def random_scores(n=64, tau=0.1, dtype=torch.float64, **changes):
    torch.manual_seed(0)
    z = torch.nn.functional.normalize(torch.randn(n, 16, dtype=torch.float64), dim=1) / tau**0.5
    z = z.to(dtype)
    images = torch.arange(n // 2).repeat(2)
    given_ = {"anchors": z, "candidates": z, "itself": 0, "shared": True} | changes
    return Scores(anchor_identity=images, candidate_identity=images, **given_)


def test_the_shifted_path_equals_the_plain_one():
    plain = summarise(random_scores(), tile=16).negative
    shifted = summarise(random_scores(bound=1e9), tile=16).negative
    torch.testing.assert_close(plain, shifted, rtol=0, atol=1e-12)


def test_scores_far_beyond_exp_stay_finite():
    scores = random_scores(tau=1e-4)  # |s| up to 10,000: exp overflows even in float64
    expected = summarise(random_scores(tau=1e-4), tile=7).negative
    result = summarise(scores).negative
    assert result.isfinite().all()
    torch.testing.assert_close(result, expected)


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 2e-6), (torch.bfloat16, 4e-2)])
@pytest.mark.parametrize("tau", [1.0, 0.1, 0.01])
def test_low_precision_within_its_stated_bound(dtype, bound, tau):
    """Relative to the largest score, 1 / tau: fp32 2e-6, bf16 4e-2 (its inputs have 8 bits)."""
    exact = summarise(random_scores(tau=tau))
    rough = summarise(random_scores(tau=tau, dtype=dtype))
    assert rough.negative.dtype == torch.float32
    for a, b in ((exact.negative, rough.negative), (exact.positive, rough.positive)):
        assert (a - b.double()).abs().max().item() * tau < bound


def test_autocast_does_not_reach_the_scores():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = summarise(random_scores(dtype=torch.float32)).negative
    outside = summarise(random_scores(dtype=torch.float32)).negative
    assert torch.equal(inside, outside)


def test_gradients_pass_gradcheck():
    z = random_scores(8).anchors.clone().requires_grad_()

    def run(z, clip):
        out = summarise(random_scores(8, anchors=z, candidates=z, clip=clip), tile=3)
        return out.positive, out.negative

    assert torch.autograd.gradcheck(lambda z: run(z, None), (z,))
    assert torch.autograd.gradcheck(lambda z: run(z, 3.0), (z,))


def test_anchors_have_the_same_gradient_when_candidates_need_none():
    z = random_scores().anchors
    found = []
    for wanted in (True, False):
        anchors, candidates = z.clone().requires_grad_(), z.clone().requires_grad_(wanted)
        scores = random_scores(anchors=anchors, candidates=candidates, shared=False)
        summarise(scores).negative.sum().backward()
        found.append(anchors.grad)
        assert (candidates.grad is not None) == wanted
    assert torch.equal(*found)


def test_positives_only_look_at_no_negative():
    out = positives(random_scores())
    torch.testing.assert_close(out.positive, summarise(random_scores()).positive)
    assert out.negative.isneginf().all()


@pytest.mark.parametrize(
    ("n", "m", "itself", "most"),
    [(128, 131_072, 0, 17), (128, 131_072, None, 16), (9000, 7, None, 1)],
)
def test_tiles_keep_their_area(n, m, itself, most):
    scores = Scores(
        anchors=torch.zeros(n, 1),
        candidates=torch.zeros(m, 1),
        anchor_identity=torch.arange(n),
        candidate_identity=torch.arange(m),
        itself=itself,
    )
    tiles = walk(scores, size=1024).tiles
    areas = [(t.rows.stop - t.rows.start) * (t.columns.stop - t.columns.start) for t in tiles]
    assert len(tiles) == most
    assert sum(areas) == n * m
    assert max(areas) <= 2**20
