"""Part (4), Phi(a, b) = squash(<p(a), q(b)>).

`p` and `q` act on single vectors, the squash on the scalar. So all quadratic work is one
matrix product with an elementwise function, and what crosses the network is q(b), which is
small.
"""

from counterpoint.parts.similarity.ball_dot import BallDot as BallDot
from counterpoint.parts.similarity.biased import Biased as Biased
from counterpoint.parts.similarity.cosines import Cosine as Cosine
from counterpoint.parts.similarity.cosines import PredictedCosine as PredictedCosine
from counterpoint.parts.similarity.cosines import ProjectedCosine as ProjectedCosine
from counterpoint.parts.similarity.cyclic_tau import CyclicTau as CyclicTau
from counterpoint.parts.similarity.dots import Bilinear as Bilinear
from counterpoint.parts.similarity.dots import Dot as Dot
from counterpoint.parts.similarity.dots import ScaledDot as ScaledDot
from counterpoint.parts.similarity.phi import Phi as Phi
