"""Many positives for each anchor: the same numbers, in memory that is linear in n + m."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from counterpoint.framework import Scores
from counterpoint.parts.losses import NCE, Penalised, Regression, Triplet
from counterpoint.parts.losses import crowded as module
from counterpoint.parts.losses.crowded import crowded

LOSSES = [
    NCE(),
    NCE(denominator="all"),
    NCE(denominator="negatives"),
    NCE(denominator="all", average="positives"),
    NCE(numerator="sum", denominator="all"),
    NCE(numerator="sum", denominator="negatives"),
    Penalised(of=NCE()),
    Triplet(margin=0.5),
    Regression(),
]


def scores_of(case, seed=0):
    """Some 300 vectors of three labels, one image that is alone, and a candidate of the past."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(300, 7, dtype=torch.float64, generator=generator).requires_grad_()
    labels = torch.randint(3, (300,), generator=generator)
    labels[17] = 99
    if case == "shared":
        given = {"candidates": z, "candidate_identity": labels, "itself": 0, "shared": True}
    elif case == "a rank":  # its anchors are candidates 40 to 340
        others = torch.randn(380, 7, dtype=torch.float64, generator=generator)
        theirs = torch.randint(3, (380,), generator=generator)
        given = {
            "candidates": torch.cat([others[:40], z, others[340:]]),
            "candidate_identity": torch.cat([theirs[:40], labels, theirs[340:]]),
            "itself": 40,
            "clip": 2.0,
        }
    else:  # keys that are nobody's negatives, and a queue of nobody's
        keys = torch.randn(400, 7, dtype=torch.float64, generator=generator)
        nobody = torch.full((100,), -1)
        labels = -2 - labels
        given = {"candidates": keys, "candidate_identity": torch.cat([labels, nobody])}
    return Scores(anchors=z, anchor_identity=labels, **given), z


@pytest.mark.parametrize("case", ["shared", "a rank", "keys"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_rows_and_lists_give_the_same(loss, case, monkeypatch):
    built = loss.build(1.0)
    monkeypatch.setattr(module, "AREA", 300 * 64)  # several blocks, the last not full
    found = []
    for limit in (0, 10**6):
        monkeypatch.setattr(module, "PAIRS", limit)
        scores, z = scores_of(case)
        assert crowded(scores) == (limit == 0)
        terms = built(scores)
        (gradient,) = torch.autograd.grad(terms.total, z)
        found.append((terms.total.detach(), terms.count, gradient))
    for rows, lists in zip(*found, strict=True):
        torch.testing.assert_close(rows, lists, atol=1e-11, rtol=1e-11)


def test_what_is_crowded():
    scores, _ = scores_of("shared")
    assert crowded(scores)  # 30,000 pairs among 600 vectors
    images = torch.arange(150).repeat(2)
    assert not crowded(replace(scores, anchor_identity=images, candidate_identity=images))


MEASURE = """
import resource, torch
from counterpoint.framework import Scores
from counterpoint.parts.losses import NCE
torch.set_num_threads(1)
def run(n):
    z = torch.randn(n, 16, requires_grad=True)
    labels = torch.arange(n) % 10
    scores = Scores(anchors=z, candidates=z, anchor_identity=labels, candidate_identity=labels,
                    itself=0, shared=True)
    NCE(denominator="all")(scores).total.backward()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(*(run(n) for n in (512, 2048, 4096)))
"""


def test_memory_is_linear():
    """Of 4,096 vectors and ten labels 1.7 million pairs are positive: 98 MB as lists."""
    asked = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # what is freed is given back
    command = [sys.executable, "-c", MEASURE]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=asked)
    _, smaller, larger = (int(kilobytes) / 1024 for kilobytes in done.stdout.split())
    assert larger - smaller < 8, (smaller, larger)  # 0.8 when it was written
