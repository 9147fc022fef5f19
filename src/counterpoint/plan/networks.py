"""Public figures of the networks between nodes, each with its source.

They were written down from memory, and have not been compared with the sources yet.
"""

from dataclasses import dataclass
from math import ceil, log2

REACHED = 0.8
"""The share of the line that collectives reach; chosen by us."""
HOP = 20e-6  # seconds; chosen by us: a message and its kernel, on any of them


@dataclass(frozen=True, slots=True)
class Network:
    """What connects the nodes.

    >>> NETWORKS["ndr"].bytes(8) / 1e9  # gigabytes a second of one GPU
    50.0
    """

    name: str
    gigabits: float
    """Of one adapter, in one direction."""
    per_node: bool
    """One adapter for a node; otherwise one for each GPU."""
    source: str

    def bytes(self, node: int) -> float:
        """Return the bytes a second, in one direction, of one GPU in a node with so many."""
        return self.gigabits * 1e9 / 8 / (node if self.per_node else 1)


NETWORKS = {
    "ndr": Network(
        "InfiniBand NDR, an adapter a GPU",
        400,
        per_node=False,
        source="NVIDIA ConnectX-7, data sheet: 400 Gb/s",
    ),
    "hdr": Network(
        "InfiniBand HDR, an adapter a GPU",
        200,
        per_node=False,
        source="NVIDIA ConnectX-6, data sheet: 200 Gb/s",
    ),
    "ethernet-400": Network(
        "Ethernet 400 Gb/s, an adapter a GPU", 400, per_node=False, source="IEEE 802.3bs: 400 Gb/s"
    ),
    "ethernet-100": Network(
        "Ethernet 100 Gb/s, one a node", 100, per_node=True, source="IEEE 802.3ba: 100 Gb/s"
    ),
    "ethernet-25": Network(
        "Ethernet 25 Gb/s, one a node", 25, per_node=True, source="IEEE 802.3by: 25 Gb/s"
    ),
}
"""Networks by the name that `--network` takes."""


def wire_seconds(received: float, *, ranks: int, link: float, node: int, network: Network) -> float:
    r"""Return the seconds of a collective by which each rank receives some bytes.

    $$ t = b / (0.8\, v) + h \lceil \log_2 W \rceil $$

    v is the link between the GPUs of a node where all ranks are in one, else what the network
    gives to one GPU. h is the time of a hop.

    >>> round(wire_seconds(40e9, ranks=16, link=450e9, node=8, network=NETWORKS["ndr"]), 4)
    1.0001
    """
    if ranks == 1:
        return 0.0
    speed = link if ranks <= node else min(link, network.bytes(node))
    return received / (REACHED * speed) + HOP * ceil(log2(ranks))
