from pincite.extractive.lists import items_after, lists_in

TEXT = """# Arriving

Before you come up, bring the following:

1. a warm layer
2. a head torch:
   - with a red light
   - with a white light
3. boots

The cabin waits for nobody.

- alone
"""


def said(text: str, *spans: tuple[int, int] | None) -> list[str]:
    return [text[span[0] : span[1]] for span in spans if span]


def test_a_list_has_its_lead_and_its_outer_items() -> None:
    [listing] = lists_in(TEXT)
    assert listing.ordered
    assert said(TEXT, listing.lead) == ["Before you come up, bring the following:"]
    assert said(TEXT, *listing.items) == [
        "a warm layer",
        "a head torch:\n   - with a red light\n   - with a white light",
        "boots",
    ]


def test_what_is_nested_follows_the_item_that_leads_to_it() -> None:
    assert said(TEXT, *items_after(TEXT, TEXT.index("torch:") + len("torch:"))) == [
        "with a red light",
        "with a white light",
    ]
    assert len(items_after(TEXT, TEXT.index("following:") + len("following:"))) == 3
    assert items_after(TEXT, TEXT.index("nobody.") + len("nobody")) == []


def test_a_heading_leads_to_no_list_and_ends_one() -> None:
    [listing] = lists_in("# Tools\n\n- a\n- b\n# More\n\n- c\n")
    assert listing.lead is None
    assert len(listing.items) == 2
