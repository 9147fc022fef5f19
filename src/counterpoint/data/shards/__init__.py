"""Images in large files: what lies in a shard, and how its records are found."""
