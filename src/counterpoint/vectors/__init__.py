"""Vectors of images in a folder of Parquet parts."""
