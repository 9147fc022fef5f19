"""Where trials run: in this process, in processes of their own, or on a Ray cluster."""
