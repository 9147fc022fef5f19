"""Part (1), A: x -> v. The stages and pipelines that make views of images."""

from counterpoint.parts.views.blur import GaussianBlur as GaussianBlur
from counterpoint.parts.views.colour import ColourJitter as ColourJitter
from counterpoint.parts.views.colour import Greyscale as Greyscale
from counterpoint.parts.views.colour import Normalise as Normalise
from counterpoint.parts.views.colour import Solarise as Solarise
from counterpoint.parts.views.colour_space import ColourSpace as ColourSpace
from counterpoint.parts.views.geometry import CentreCrop as CentreCrop
from counterpoint.parts.views.geometry import HorizontalFlip as HorizontalFlip
from counterpoint.parts.views.geometry import RandomResizedCrop as RandomResizedCrop
from counterpoint.parts.views.geometry import Resize as Resize
from counterpoint.parts.views.geometry import Translation as Translation
from counterpoint.parts.views.jigsaw import Jigsaw as Jigsaw
from counterpoint.parts.views.patches import Patches as Patches
from counterpoint.parts.views.pipeline import Pipeline as Pipeline
from counterpoint.parts.views.several import ChannelSplit as ChannelSplit
from counterpoint.parts.views.several import MultiView as MultiView
from counterpoint.parts.views.stage import Stage as Stage
