"""The provider of a remote embedder; its requests are tried in tests/api/test_embed_server.py."""

from pincite.providers import embed_server, pincite_embed


def test_long_texts_are_split_where_the_local_embedder_splits_them() -> None:
    local = pincite_embed.make_embedder(pincite_embed.Options())
    far = embed_server.make_embedder(embed_server.Options(base_url="http://127.0.0.1:1/v1"))
    text = "The cat is fed at half past six. " * 100
    assert far.windows(text, "Cats: ") == local.windows(text, "Cats: ")
    assert far.name == local.name
