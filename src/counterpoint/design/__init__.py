"""Methods found by search: a grammar over the five parts, trials that grow, and a report."""
