"""Names of timm that are trained, saved and opened again: small members of many families."""

SIDE = 64

NAMES = (
    *("resnet10t", "resnet18", "skresnet18", "resnest14d", "resnetv2_18", "regnetx_002"),
    *("efficientnet_lite0", "tf_efficientnet_lite0", "mobilenetv2_035", "mnasnet_small"),
    *("semnasnet_075", "mobilenetv3_small_050", "mobilenetv4_conv_small_035", "lcnet_035"),
    *("hardcorenas_a", "ghostnet_050", "repghostnet_050", "rexnet_100", "convnext_atto"),
    *("edgenext_xx_small", "inception_next_atto", "vit_tiny_patch16_224", "deit_tiny_patch16_224"),
    *("pit_ti_224", "xcit_nano_12_p16_224", "tiny_vit_5m_224", "levit_128s", "pvt_v2_b0"),
    *("efficientvit_b0", "efficientvit_m0", "mobilevit_xxs", "mobileone_s0", "fastvit_t8"),
    *("efficientformerv2_s0", "efficientvim_m1", "dla46x_c", "ese_vovnet19b_slim", "starnet_s1"),
    *("repvit_m0_9", "crossvit_9_240", "convit_tiny", "coat_lite_tiny", "halonet26t"),
    "swin_tiny_patch4_window7_224",
)
SIDES: dict[str, int] = {}
"""Names for which 64 pixels are too few."""

QUICK = (
    *("resnet10t", "resnetv2_18", "regnetx_002", "efficientnet_lite0", "mobilenetv3_small_050"),
    *("ghostnet_050", "lcnet_035", "convnext_atto", "vit_tiny_patch16_224", "levit_128s"),
    *("mobilevit_xxs", "dla46x_c"),
)
"""A dozen that are trained in every run of the tests."""

REFUSED = ("crossvit_9_240", "convit_tiny", "coat_lite_tiny", "halonet26t")
"""Shown no feature maps, or not of this size: refused before any training, with a message."""
