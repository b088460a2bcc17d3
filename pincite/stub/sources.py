"""Finding the sources in a prompt, as a model that can only quote would."""

import re

_HEAD = re.compile(r"^\[([^\]\n]+)\][^\n]*$", re.MULTILINE)
_FENCE = re.compile(r"^[^\w\n]{3,}(?:\w{8,}[^\w\n]{3,})?$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n{2,}")
_WORD = re.compile(r"\w{3,}")
NOTHING = "I don't know: no source was given."


def quote(prompt: str, question: str) -> str:
    """The sentence of the first source that shares most words with the question, cited."""
    head = _HEAD.search(prompt)
    if head is None:
        return NOTHING
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(_body(prompt, head.end())) if sentence.strip()]
    if not sentences:
        return NOTHING
    wanted = set(_WORD.findall(question.lower()))
    best = max(sentences, key=lambda sentence: len(wanted & set(_WORD.findall(sentence.lower()))))
    return f"{' '.join(best.split())} [{_label(head[1])}]"


def best_quote(prompt: str, question: str) -> str:
    """The sentence of any source that shares most words with the question, cited by that source's number."""
    wanted, best = set(_WORD.findall(question.lower())), (0, NOTHING)
    for head in _HEAD.finditer(prompt):
        for sentence in _SENTENCE_END.split(_body(prompt, head.end())):
            said = " ".join(sentence.split())
            shared = len(wanted & set(_WORD.findall(said.lower())))
            if shared > best[0]:
                best = shared, f"{said} [{head[1]}]"
    return best[1]


def has_sources(prompt: str) -> bool:
    """Whether there are any."""
    return _HEAD.search(prompt) is not None


def first_source(prompt: str) -> int:
    """Where the sources begin; 0 where none can be told from the rest."""
    head = _HEAD.search(prompt)
    return head.start() if head else 0


def _body(prompt: str, start: int) -> str:
    """The text under a source's head: up to the fence, or up to the next source."""
    ends = [match.start() for pattern in (_FENCE, _HEAD) if (match := pattern.search(prompt, start + 1))]
    return prompt[start : min(ends, default=len(prompt))]


def _label(head: str) -> str:
    """How the source is cited: by its number, or by its title where it has none."""
    return "Source 1" if head.lower().startswith("source") else head.split(" > ")[0]
