"""Lightning callbacks: what watches over a run while it trains."""
