"""Part (3), M -> r^a, R^+, R^-. What is an anchor, and what it is compared with."""

from counterpoint.parts.extraction.bank import Bank as Bank
from counterpoint.parts.extraction.by_label import ByLabel as ByLabel
from counterpoint.parts.extraction.context import Context as Context
from counterpoint.parts.extraction.keys import Keys as Keys
from counterpoint.parts.extraction.maps import Compare as Compare
from counterpoint.parts.extraction.maps import Pair as Pair
from counterpoint.parts.extraction.matched import Matched as Matched
from counterpoint.parts.extraction.nearest_anchors import NearestAnchors as NearestAnchors
from counterpoint.parts.extraction.one_way import OneWay as OneWay
from counterpoint.parts.extraction.pooled import Pooled as Pooled
from counterpoint.parts.extraction.queue import Queue as Queue
from counterpoint.parts.extraction.side_by_side import Together as Together
from counterpoint.parts.extraction.stop_gradient import StopGradient as StopGradient
