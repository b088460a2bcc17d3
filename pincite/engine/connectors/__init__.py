"""Documents from elsewhere: synchronised folders, web pages, the samples."""
