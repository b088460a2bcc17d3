"""pincite: answers from your own documents, each sentence cited."""
