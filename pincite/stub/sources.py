"""Find the sources in a prompt and quote from them."""

import re

_HEAD = re.compile(r"^\[([^\]\n]+)\][^\n]*$", re.MULTILINE)
_FENCE = re.compile(r"^[^\w\n]{3,}(?:\w{8,}[^\w\n]{3,})?$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n{2,}")
_WORD = re.compile(r"\w{3,}")
NO_SOURCE = "I don't know: no source was given."


def quote(prompt: str, question: str) -> str:
    """Quote the sentence of the first source that shares most words with the question."""
    head = _HEAD.search(prompt)
    if head is None:
        return NO_SOURCE
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(_body(prompt, head.end())) if sentence.strip()]
    if not sentences:
        return NO_SOURCE
    wanted = set(_WORD.findall(question.lower()))
    best = max(sentences, key=lambda sentence: len(wanted & set(_WORD.findall(sentence.lower()))))
    return f"{' '.join(best.split())} [{_label(head[1])}]"


def best_quote(prompt: str, question: str) -> str:
    """Quote the sentence of any source that shares most words with the question."""
    wanted, best = set(_WORD.findall(question.lower())), (0, NO_SOURCE)
    for head in _HEAD.finditer(prompt):
        for sentence in _SENTENCE_END.split(_body(prompt, head.end())):
            said = " ".join(sentence.split())
            shared = len(wanted & set(_WORD.findall(said.lower())))
            if shared > best[0]:
                best = shared, f"{said} [{head[1]}]"
    return best[1]


def has_sources(prompt: str) -> bool:
    """Whether the prompt has sources."""
    return _HEAD.search(prompt) is not None


def first_source(prompt: str) -> int:
    """Return the offset of the first source; 0 if there is none."""
    head = _HEAD.search(prompt)
    return head.start() if head else 0


def _body(prompt: str, start: int) -> str:
    """The text of a source, up to the fence or the next source."""
    ends = [match.start() for pattern in (_FENCE, _HEAD) if (match := pattern.search(prompt, start + 1))]
    return prompt[start : min(ends, default=len(prompt))]


def _label(head: str) -> str:
    """The label to cite a source by: its number, or its title."""
    return "Source 1" if head.lower().startswith("source") else head.split(" > ")[0]
