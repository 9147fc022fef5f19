"""How a run is started on machines that are not a Ray cluster yet."""

import shlex

from counterpoint.launch.rank_layout import RankLayout, shell_lines


def ray_script(layout: RankLayout, address: str | None, *, folder: str, logs: str) -> str:
    r"""Write the script that starts a run from any machine of a cluster.

    >>> layout = RankLayout(name="photos", command=("counterpoint", "pretrain"), nodes=2, gpus=8)
    >>> print(ray_script(layout, None, folder="/home/me", logs="."))  # doctest: +ELLIPSIS
    #!/bin/bash
    # A cluster, where there is none yet. Ray has no passwords: keep its ports inside your network.
    #   on the first machine:  ray start --head --port=6379
    #   on each of the others: ray start --address=FIRST:6379
    # Run this on a machine of the cluster, or by: ray job submit -- bash FILE
    cd /home/me || exit 1
    exec counterpoint launch ray \
      --nodes 2 \
      --gpus-per-node 8 \
    ...
    """
    options = {
        "nodes": layout.nodes,
        "gpus-per-node": layout.gpus,
        "processes-per-node": layout.per_node,
        "cpus": layout.cpus,
        "restarts": layout.restarts,
        "address": address,
        "name": layout.name,
        "logs": logs,
    }
    words = [layout.command[0], "launch", "ray"]
    for key, value in options.items():
        words += [] if value is None else [f"--{key}", str(value)]
    return (
        "#!/bin/bash\n"
        "# A cluster, where there is none yet. Ray has no passwords: keep its ports inside your "
        "network.\n"
        "#   on the first machine:  ray start --head --port=6379\n"
        "#   on each of the others: ray start --address=FIRST:6379\n"
        "# Run this on a machine of the cluster, or by: ray job submit -- bash FILE\n"
        f"cd {shlex.quote(folder)} || exit 1\n"
        f"exec {shell_lines(words)} \\\n"
        f"  {shell_lines(layout.command[1:], indent='    ')}\n"
    )
