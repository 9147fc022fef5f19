"""Criteria that choose between encoders without labels.

All are functions of the encoder's own vectors of fixed views, so that no method is judged by its
own augmentation. RankMe, LiDAR and alpha-ReQ are in `counterpoint.evaluation.health`.
"""

from counterpoint.evaluation.criteria.cluster_learnability import (
    cluster_learnability as cluster_learnability,
)
from counterpoint.evaluation.criteria.intrinsic_dimension import (
    intrinsic_dimension as intrinsic_dimension,
)
from counterpoint.evaluation.criteria.measuring import CRITERIA as CRITERIA
from counterpoint.evaluation.criteria.measuring import goodness as goodness
from counterpoint.evaluation.criteria.measuring import measured as measured
from counterpoint.evaluation.criteria.ranking import mean_rank as mean_rank
from counterpoint.evaluation.criteria.ranking import spearman as spearman
from counterpoint.evaluation.criteria.rotation import quarter_turns as quarter_turns
from counterpoint.evaluation.criteria.rotation import rotation_folds as rotation_folds
from counterpoint.evaluation.criteria.rotation import rotation_probe as rotation_probe
