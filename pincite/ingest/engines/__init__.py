"""Building the data of engines in the background, after the passages of a document are served."""
