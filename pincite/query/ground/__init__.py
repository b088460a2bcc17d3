"""Check an answer against its sources: claims, support, conflicts, confidence."""
