"""Admission control: limits on concurrent work, with a queue that is fair between users."""
