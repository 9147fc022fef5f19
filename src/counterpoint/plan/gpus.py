"""Public figures of GPUs, each with its source.

They were written down from memory, and have not been compared with the sources yet.
"""

from counterpoint.plan.machine import Machine, Rate

SHARE = 0.75
"""The share of both peaks that a step gets. With it a step of ResNet-50 on an A100 with 80 GB takes
what NVIDIA measured, 2,470 images/s (NVIDIA/DeepLearningExamples, PyTorch ResNet50 v1.5, README,
mixed precision, batch 256); `tests/plan/test_counts.py` holds it to that."""

START = 5e-6  # seconds of a kernel; our assumption: docs/decisions/0041-one-count-for-the-plan.md

TERA, GIGA = 1e12, 1e9


def _gpu(
    name: str,
    *,
    half: float,
    tf32: float,
    single: float,
    gigabytes: float,
    bandwidth: float,
    link: float,
    source: str,
) -> Machine:
    """Take the figures of a data sheet: tera-operations (dense) and gigabytes a second.

    With 32-true torch has convolutions in TF32 and products in fp32, which are its defaults.
    """
    touched = SHARE * bandwidth * GIGA
    at = {"half": half, "tf32": tf32, "single": single}
    rate = {name: Rate(SHARE * peak * TERA, touched) for name, peak in at.items()}
    return Machine(
        name=name,
        memory=gigabytes * GIGA,
        single={
            "convolution": rate["tf32"],
            "convolution backward": rate["tf32"],
            "product": rate["single"],
            "memory": rate["single"],
            "in place": rate["single"],
        },
        half={
            "convolution": rate["half"],
            "convolution backward": rate["half"],
            "product": rate["half"],
            "memory": rate["half"],
            "in place": rate["half"],
        },
        start=START,
        link=link * GIGA,
        node=8,
        source=source,
    )


# Links: NVLink in one direction, which is half of what data sheets say; without it PCIe.
GPUS = {
    "b200": _gpu(
        "B200",
        half=2250,
        tf32=1125,
        single=75,
        gigabytes=180,
        bandwidth=8000,
        link=900,
        source="NVIDIA HGX B200, specifications (a share of eight; dense is half of sparse)",
    ),
    "h200": _gpu(
        "H200 SXM",
        half=989,
        tf32=494,
        single=67,
        gigabytes=141,
        bandwidth=4800,
        link=450,
        source="NVIDIA H200 Tensor Core GPU, data sheet (dense is half of sparse)",
    ),
    "h100": _gpu(
        "H100 SXM 80 GB",
        half=989,
        tf32=494,
        single=67,
        gigabytes=80,
        bandwidth=3350,
        link=450,
        source="NVIDIA H100 Tensor Core GPU, data sheet (dense is half of sparse)",
    ),
    "a100": _gpu(
        "A100 SXM 80 GB",
        half=312,
        tf32=156,
        single=19.5,
        gigabytes=80,
        bandwidth=2039,
        link=300,
        source="NVIDIA A100 Tensor Core GPU, data sheet",
    ),
    "a100-40": _gpu(
        "A100 SXM 40 GB",
        half=312,
        tf32=156,
        single=19.5,
        gigabytes=40,
        bandwidth=1555,
        link=300,
        source="NVIDIA A100 Tensor Core GPU, data sheet",
    ),
    "l40s": _gpu(
        "L40S",
        half=362,
        tf32=183,
        single=91.6,
        gigabytes=48,
        bandwidth=864,
        link=32,
        source="NVIDIA L40S, data sheet; PCIe 4.0 x16",
    ),
    "a10": _gpu(
        "A10",
        half=125,
        tf32=62.5,
        single=31.2,
        gigabytes=24,
        bandwidth=600,
        link=32,
        source="NVIDIA A10 Tensor Core GPU, data sheet; PCIe 4.0 x16",
    ),
    "l4": _gpu(
        "L4",
        half=121,
        tf32=60,
        single=30.3,
        gigabytes=24,
        bandwidth=300,
        link=32,
        source="NVIDIA L4, data sheet (dense is half of sparse); PCIe 4.0 x16",
    ),
    "v100": _gpu(
        "V100 SXM 32 GB",
        half=15.7,
        tf32=15.7,
        single=15.7,
        gigabytes=32,
        bandwidth=900,
        link=150,
        source="NVIDIA V100 Tensor Core GPU, data sheet; it has no bf16, so fp32 throughout",
    ),
    "rtx4090": _gpu(
        "RTX 4090",
        half=165.2,
        tf32=82.6,
        single=82.6,
        gigabytes=24,
        bandwidth=1008,
        link=32,
        source="NVIDIA Ada GPU architecture, appendix A (fp32 accumulate); PCIe 4.0 x16",
    ),
}
"""GPUs by the name that `--gpu` takes."""
