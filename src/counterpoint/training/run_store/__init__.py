"""Runs on object stores: a folder of this machine that is brought to an address and back."""
