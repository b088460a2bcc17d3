"""The same documents and questions through pincite and through other libraries, side by side."""
