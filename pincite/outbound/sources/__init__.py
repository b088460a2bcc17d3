"""Remote sources of documents, one file per kind; each has a class `Source` that implements `RemoteSource`."""
