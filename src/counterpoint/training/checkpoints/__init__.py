"""Checkpoints that are whole or not there: tensors as safetensors, the rest as JSON, no pickle."""

from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.folder import Checkpoints
from counterpoint.training.checkpoints.validity import problem

__all__ = ["CheckpointError", "Checkpoints", "problem"]
