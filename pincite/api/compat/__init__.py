"""Routes in the shape of other products: OpenAI's API, and the paths of the seed designs."""
