"""What becomes of an encoder: weights in, embed, search, curate, export."""
