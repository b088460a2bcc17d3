"""Sessions, saved answers, the answer cache, feedback, share links."""
