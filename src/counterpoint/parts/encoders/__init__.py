"""Part (2), f: v -> M. Networks that turn views into feature maps."""

from counterpoint.parts.encoders.amdim_encoder import AMDIMEncoder as AMDIMEncoder
from counterpoint.parts.encoders.by_name import encoder_named as encoder_named
from counterpoint.parts.encoders.by_name import resnet_for as resnet_for
from counterpoint.parts.encoders.by_name import stem_for as stem_for
from counterpoint.parts.encoders.cpc_resnet import CPC_RESNET50 as CPC_RESNET50
from counterpoint.parts.encoders.cpc_resnet import CPC_RESNET101 as CPC_RESNET101
from counterpoint.parts.encoders.cpc_resnet import CPC_SMALL as CPC_SMALL
from counterpoint.parts.encoders.cpc_resnet import CPCResNet as CPCResNet
from counterpoint.parts.encoders.feature_maps import FeatureMaps as FeatureMaps
from counterpoint.parts.encoders.headed import Headed as Headed
from counterpoint.parts.encoders.headed import PerView as PerView
from counterpoint.parts.encoders.innermost import innermost as innermost
from counterpoint.parts.encoders.innermost import replace_innermost as replace_innermost
from counterpoint.parts.encoders.module_encoder import ModuleEncoder as ModuleEncoder
from counterpoint.parts.encoders.module_encoder import as_encoder as as_encoder
from counterpoint.parts.encoders.momentum_encoder import MomentumEncoder as MomentumEncoder
from counterpoint.parts.encoders.narrow import NarrowResNet as NarrowResNet
from counterpoint.parts.encoders.query_key import QueryKeyEncoder as QueryKeyEncoder
from counterpoint.parts.encoders.resnet import RESNETS as RESNETS
from counterpoint.parts.encoders.resnet import ResNet as ResNet
from counterpoint.parts.encoders.thin import ThinResNet as ThinResNet
from counterpoint.parts.encoders.timm import Timm as Timm
from counterpoint.parts.encoders.view_heads import ViewHeads as ViewHeads
