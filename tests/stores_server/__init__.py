"""A real S3 protocol on the loopback address, and a proxy of ours before it that fails."""
