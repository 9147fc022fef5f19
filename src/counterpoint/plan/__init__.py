"""What a run would take, before anything is bought: memory, time, traffic, failures, cost."""
