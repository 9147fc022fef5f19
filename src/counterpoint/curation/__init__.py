"""What to leave out of a set of images, what to look at, and which of them to take."""
