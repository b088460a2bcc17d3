from typing import Any

import pytest

from pincite.errors import NotFound


def test_removing_leaves_nothing_and_says_what_went(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        kept = await shelf.put("b.md", "kept words")
        gone = await shelf.put("a.md", "first passage", "second passage")
        receipt = await shelf.removal.remove(scope, gone)
        assert (receipt.versions, receipt.chunks, receipt.vectors, receipt.postings) == (1, 2, 2, 4)
        assert receipt.file
        assert receipt.verified
        assert not list(shelf.files._folder.glob(f"{gone}*"))
        with pytest.raises(NotFound):
            await shelf.library.get(scope, gone)
        with pytest.raises(NotFound):
            await shelf.removal.remove(scope, gone)
        assert (await shelf.library.get(scope, kept)).chunks == 1

    with_shelf(test)
