"""The same documents and questions in pincite and in other libraries, side by side."""
