"""The hash chain of the audit log: any later change is detected."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pincite.core.accounts.audit import CHAIN_START, Anchor, ChainCheck, Link, append_link, verify_end, verify_links

CONTENTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=12)


def chain_of(contents: list[str]) -> list[Link]:
    links, anchor = list[Link](), CHAIN_START
    for content in contents:
        links.append(append_link(anchor, content))
        anchor = Anchor(links[-1].number, links[-1].hash)
    return links


def checked(links: list[Link], head: Anchor, known: Anchor | None = None) -> ChainCheck:
    verdict = verify_links(CHAIN_START, links, known)
    return verdict if verdict.fault else verify_end(verdict.reached, head, known)


def head_of(links: list[Link]) -> Anchor:
    return Anchor(links[-1].number, links[-1].hash)


@given(CONTENTS, st.data())
def test_an_unchanged_chain_is_valid_and_can_be_verified_in_parts(contents: list[str], data: st.DataObject) -> None:
    links = chain_of(contents)
    known = data.draw(st.sampled_from([head_of(links[: n + 1]) for n in range(len(links))]))
    assert checked(links, head_of(links), known) == ChainCheck(head_of(links))
    cut = data.draw(st.integers(0, len(links)))
    assert verify_links(verify_links(CHAIN_START, links[:cut]).reached, links[cut:]) == ChainCheck(head_of(links))


@given(CONTENTS, st.data())
def test_a_changed_event_is_reported_by_number(contents: list[str], data: st.DataObject) -> None:
    links = chain_of(contents)
    at = data.draw(st.integers(0, len(links) - 1))
    changes = [replace(links[at], content=links[at].content + "!"), replace(links[at], hash=bytes(32))]
    for changed in changes:
        verdict = checked([*links[:at], changed, *links[at + 1 :]], head_of(links))
        assert verdict.fault == f"event {at + 1} was changed, or one before it was removed"
        assert verdict.reached.number == at


@given(CONTENTS, st.data())
def test_a_removed_or_inserted_event_is_detected(contents: list[str], data: st.DataObject) -> None:
    links = chain_of(contents)
    at = data.draw(st.integers(0, len(links) - 1))
    without = [*links[:at], *links[at + 1 :]]
    assert checked(without, head_of(links)).fault
    renumbered = [replace(link, number=n) for n, link in enumerate(without, 1)]
    assert checked(renumbered, head_of(links)).fault
    forged = append_link(Anchor(at, bytes(32)), "forged")
    more = [*links[:at], forged, *(replace(link, number=link.number + 1) for link in links[at:])]
    assert checked(more, head_of(links)).fault


@given(CONTENTS, st.data())
def test_events_removed_or_added_at_the_end_are_detected_by_the_head(contents: list[str], data: st.DataObject) -> None:
    links = chain_of(contents)
    kept = data.draw(st.integers(0, len(links) - 1))
    assert "the log ends after" in (checked(links[:kept], head_of(links)).fault or "")
    longer = chain_of([*contents, "one more"])
    assert "the log continues after" in (checked(longer, head_of(links)).fault or "")


def test_a_rewritten_chain_is_detected_by_a_head_noted_elsewhere() -> None:
    noted = head_of(chain_of(["a", "b"]))
    anew = chain_of(["a", "other", "c"])
    assert checked(anew, head_of(anew)).fault is None  # which is why one keeps it
    assert "rewritten" in (checked(anew, head_of(anew), noted).fault or "")
    shorter = chain_of(["a"])
    assert "the head you noted is event 2" in (checked(shorter, head_of(shorter), noted).fault or "")
