"""Routes compatible with other products: OpenAI's API, and the paths of the seed designs."""
