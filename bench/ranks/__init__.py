"""Many ranks, measured: what they exchange, hold and save, and what a plan says of it."""
