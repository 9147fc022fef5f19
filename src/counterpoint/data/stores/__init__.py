"""Where the bytes of a data set are: a folder of this machine, or an object store."""
