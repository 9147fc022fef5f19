"""One run on many machines: the scripts for SLURM and torchrun, and the ranks of a Ray cluster."""
