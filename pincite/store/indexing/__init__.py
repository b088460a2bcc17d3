"""Uploads, jobs, and writing and publishing an indexed edition."""
