"""Make the examples `read_train.py` learns from: questions, claims and yes/no questions with a passage each.

    python training/read_prepare.py --data DATA --shards SHARDS --eval EVAL --tokenizer TOKENIZER.json --out OUT

DATA holds the unpacked `questions/` and `claims/`, SHARDS the parallel text `prepare.py` wrote; EVAL is read only to
keep its text out. Two in a hundred documents of each source are held out. A quarter of the English examples stand a
second time with some words of the question, the passage or both replaced by German ones (`read_lexicon.py`).

Writes `train.npz` and `valid.npz`: word pieces, lengths, labels; and `train.jsonl.gz`, the same examples as text, for
`read_generate.py` to translate. A label of -1 means that the example does not teach
that output. Claims: 0 supported, 1 contradicted, 2 not stated, 3 contradicted or not stated.
"""

from __future__ import annotations

import argparse
import collections
import glob
import gzip
import json
import math
import os
import random
import re
import sys
import time
import zlib
from pathlib import Path

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import prepare
from prepare import Contamination, rows, tidy
from read_lexicon import lexicon, read_pairs, switch

ROOM, QUESTION_ROOM = 320, 96
SWITCHED = 0.25
WORD = re.compile(r"\w+")
SENTENCE = re.compile(r"(?<=[.!?])[\"”'’)]*\s+(?=[\"“„'(\[]?[A-ZÄÖÜ0-9])|\n+")
TASKS = ("span", "claim", "yesno")
LABEL = {"SUPPORTS": 0, "REFUTES": 1, "NOT ENOUGH INFO": 2, "E": 0, "C": 1, "N": 2}


def plain(text: str) -> str:
    """Without the marks of the Penn Treebank."""
    for old, new in (("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("``", '"'), ("''", '"')):
        text = text.replace(old, new)
    text = re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text)
    return re.sub(r"\( ", "(", re.sub(r" ([,.;:?!)])", r"\1", text))


def sentences(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence."""
    found, at = [], 0
    for match in SENTENCE.finditer(text):
        if match.end() - at > 1:
            found.append((at, match.end()))
            at = match.end()
    return [*found, (at, len(text))] if at < len(text) else found


def window(text: str, start: int, end: int) -> tuple[str, int, int] | None:
    """Sentences round the span, 45 to 165 words, the span anywhere in them."""
    parts = sentences(text)
    first = next((i for i, part in enumerate(parts) if part[1] > start), None)
    last = next((i for i, part in enumerate(parts) if part[1] >= end), None)
    if first is None or last is None:
        return None
    budget = random.randint(250, 950)
    while True:
        sides = [side for side, free in ((0, first > 0), (1, last + 1 < len(parts))) if free]
        if not sides:
            break
        side = random.choice(sides)
        grown = (parts[first - 1][0], parts[last][1]) if side == 0 else (parts[first][0], parts[last + 1][1])
        if grown[1] - grown[0] > budget:
            break
        first, last = (first - 1, last) if side == 0 else (first, last + 1)
    low, high = parts[first][0], parts[last][1]
    if high - low > 1400:
        low, high = max(low, start - 500), min(high, max(end, start + 500))
    return text[low:high].rstrip(), start - low, end - low


def stretch(text: str) -> str:
    """A window at a random place."""
    at = random.randrange(max(1, len(text) - 200))
    found = window(text, at, min(len(text), at + 10))
    return found[0] if found else text[:900]


# ---------------------------------------------------------------- rules


EN_VERB = re.compile(r"\b(is|are|was|were|can|could|will|would|should|must|may|has been|have been|had been)\b(?! not)")
DE_VERB = re.compile(r"\b(ist|sind|war|waren|wird|werden|wurde|wurden|kann|können|muss|müssen|soll|darf|hat|haben)\b")
EN_NOT = re.compile(r"\b(is|are|was|were|can|could|will|would|should|must|may|do|does|did|has|have) ?not\b|\bno\b")
DE_NOT = re.compile(r"\b(nicht|kein|keine|keinen|keinem|keiner)\b ?")


def negate(text: str, german: bool = False) -> str | None:
    """The claim with its negation added or taken away; None where no rule fits."""
    if german:
        if DE_NOT.search(text):
            return (
                None
                if random.random() < 0.5
                else DE_NOT.sub(lambda m: "" if m[1] == "nicht" else m[1][1:] + " ", text, count=1)
            )
        match = DE_VERB.search(text)
        if not match:
            return None
        rest = text[match.end() :]
        article = re.match(r" (ein|eine|einen|einem|einer)\b", rest)
        return text[: match.end()] + (" k" + rest[1:] if article else " nicht" + rest)
    found = EN_NOT.search(text)
    if found:
        if found[0] == "no" or found[1] in ("do", "does", "did"):
            return None
        return text[: found.start()] + found[1] + text[found.end() :]
    match = EN_VERB.search(text)
    if not match:
        return None
    word = match[0]
    if word.endswith(" been"):
        return text[: match.start()] + word.replace(" been", " not been") + text[match.end() :]
    return (
        text[: match.end()]
        + random.choice((" not", " not", " never") if word in ("is", "was", "were", "are") else (" not",))
        + text[match.end() :]
    )


def renumber(text: str) -> str | None:
    """The text with one number changed."""
    found = list(re.finditer(r"\b\d+(?:[.,]\d+)?\b", text))
    if not found:
        return None
    match = random.choice(found)
    digits = match[0]
    if re.fullmatch(r"1[5-9]\d\d|20\d\d", digits):
        new = str(int(digits) + random.choice((-40, -11, -7, -3, -2, -1, 1, 2, 3, 5, 12, 30)))
    else:
        new = "".join(random.choice("123456789") if c.isdigit() else c for c in digits)
        if new == digits:
            new = str(random.randint(2, 9)) + digits
    return text[: match.start()] + new + text[match.end() :]


def ask(claim: str, german: bool = False) -> str:
    """A yes/no question of a claim."""
    claim = claim.strip().rstrip(".! ")
    lower = claim[0].lower() + claim[1:] if claim.split()[0].lower() in ARTICLES else claim
    if german:
        match = re.match(
            r"^([^,]{2,50}?) (ist|sind|war|waren|wurde|wurden|kann|können|muss|müssen|hat|haben|wird|werden) (.+)$",
            lower,
        )
        if match and random.random() < 0.6:
            return f"{match[2].capitalize()} {match[1]} {match[3]}?"
        return random.choice(("Stimmt es, dass {}?", "Ist es wahr, dass {}?", "{}?", "Trifft es zu: {}?")).format(lower)
    match = re.match(r"^([^,]{2,60}?) (is|are|was|were|can|could|will|would|should|must|has|have|had) (.+)$", lower)
    if match and match[2] in ("has", "have", "had") and not re.match(r"(been|\w+ed)\b", match[3]):
        match = None
    if match and random.random() < 0.75:
        return f"{match[2].capitalize()} {match[1]} {match[3]}?"
    return random.choice(("Is it true that {}?", "Is it true that {}?", "Is it correct that {}?", "{}?")).format(lower)


ARTICLES = set(
    "the a an this these those his her their its there in on der die das ein eine dieser diese dieses es in auf wenn".split()
)
NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'’-]+(?: (?:of |the )?[A-Z][\w'’-]+)*")


# ---------------------------------------------------------------- examples


class Examples:
    def __init__(self, evaluation: str, words: dict) -> None:
        prepare.STRIDE = 1
        self.contaminated = Contamination(evaluation)
        self.words = words
        self.rows: list[dict] = []
        self.left_out = 0
        self.clean: dict[int, bool] = {}

    def add(
        self,
        task,
        source,
        document,
        question,
        passage,
        *,
        span=None,
        answerable=-1,
        polarity=-1,
        claim=-1,
        language="en",
    ):
        question = tidy(question)
        if not question or len(passage) < 15:
            return
        for text in (question, passage):
            key = hash(text)
            if key not in self.clean:
                self.clean[key] = text not in self.contaminated
            if not self.clean[key]:
                self.left_out += 1
                return
        held = zlib.crc32(f"{source}:{document}".encode()) % 50 == 0
        row = {
            "task": task,
            "source": source,
            "held": held,
            "q": question,
            "p": passage,
            "span": span,
            "language": language,
        }
        row |= {"answerable": answerable, "polarity": polarity, "claim": claim}
        if language == "en":
            other = self.switched(row) if held or random.random() < SWITCHED else None
            if other:
                self.rows.append(other)
        self.rows.append(row)

    def switched(self, row: dict) -> dict | None:
        share, which = random.choice((0.3, 0.6, 1.0)), random.randrange(3)
        question, passage, span = row["q"], row["p"], row["span"]
        if which != 1:
            question = switch(question, self.words, share)[0]
        if which != 0:
            passage, span = switch(passage, self.words, share, span)
        return row | {"q": question, "p": passage, "span": span, "language": "switched"} if passage else None


class Neighbours:
    """The passage of a source that shares most rare words with a question."""

    def __init__(self, passages: list[tuple[str, str]]) -> None:
        self.passages = passages
        self.places = collections.defaultdict(list)
        for at, (_, text) in enumerate(passages):
            for word in set(WORD.findall(text.lower())):
                self.places[word].append(at)

    def find(self, question: str, document: str, without: str, same: bool | None = None) -> str | None:
        scores: collections.Counter = collections.Counter()
        for word in set(WORD.findall(question.lower())):
            places = self.places.get(word, ())
            if places and len(places) <= 600:
                weight = math.log(1 + len(self.passages) / len(places))
                for at in places:
                    scores[at] += weight
        for at, _ in scores.most_common(12):
            other, text = self.passages[at]
            if (same is None or (other == document) == same) and without.lower() not in text.lower():
                return text
        return None


def question_source(
    examples: Examples, source: str, items: list[dict], share: float = 1.0, unanswerable: float = 0.8
) -> None:
    """Items: document, question, passage, answers as [(start, end)] or none, and what else lies in the document."""
    pool = list({(item["document"], item["passage"][:1000]) for item in items})
    neighbours = Neighbours([(document, text if len(text) < 900 else stretch(text)) for document, text in pool])
    names = [name for item in items for name in NAME.findall(item["question"])]
    for item in items:
        if random.random() > share:
            continue
        question, passage, document, span = item["question"], item["passage"], item["document"], item.get("span")
        answer = passage[span[0] : span[1]] if span else passage[:80]
        if span:
            cut = window(passage, *span)
            if cut:
                examples.add("span", source, document, question, cut[0], span=cut[1:], answerable=1, polarity=2)
        else:
            text = passage if len(passage) < 1000 else item.get("top", passage[:1000])
            examples.add("span", source, document, question, text, answerable=1, polarity=2)
        if random.random() > unanswerable:
            continue
        kind, text, asked = random.random(), None, question
        if kind < 0.30 and span:  # the passage without the sentence that answers
            parts = sentences(passage)
            kept = [passage[a:b] for a, b in parts if b <= span[0] or a >= span[1]]
            text = " ".join(part.strip() for part in kept)
            if len(kept) < 2 or len(text) < 80:
                text = None
            elif len(text) > 900:
                text = stretch(text)
        elif kind < 0.45:
            text = neighbours.find(question + " " + passage[:300], document, answer, same=True)
        elif kind < 0.60:  # another name or number asked for
            match = next(iter(NAME.finditer(question)), None)
            if match and names:
                asked = question[: match.start()] + random.choice(names) + question[match.end() :]
            else:
                asked = renumber(question) or question
            if asked != question and (not match or asked[match.start() : match.start() + 4] not in passage):
                text = window(passage, *span)[0] if span and window(passage, *span) else passage[:900]
        elif kind < 0.68:
            text = random.choice(neighbours.passages)[1]
        if text is None:
            asked, text = question, neighbours.find(question, document, answer, same=False)
        if (text and answer.lower() not in text.lower()) or asked != question:
            examples.add("span", source, document, asked, text, answerable=0, polarity=2)


def squad_items(path: str, source: str):
    for article, item in enumerate(json.loads(Path(path).read_text(encoding="utf-8"))["data"]):
        for paragraph in item["paragraphs"]:
            for question in paragraph["qas"]:
                for answer in question["answers"][:1]:
                    text, start = answer["text"], answer["answer_start"]
                    gap = len(text) - len(text.lstrip())
                    span = (start + gap, start + len(text.rstrip()))
                    if paragraph["context"][slice(*span)] == text.strip():
                        yield {
                            "document": f"{source}{article}",
                            "question": question["question"],
                            "passage": paragraph["context"],
                            "span": span,
                        }


def qamr_items(folder: str):
    texts = {}
    for line in Path(folder, "qamr_wiki-sentences.tsv").read_text(encoding="utf-8").split("\n"):
        key, _, text = line.partition("\t")
        texts[key] = text.split()
    keys = sorted(key for key in texts if len(texts[key]) > 5)
    seen = set()
    for name in ("dev", "test"):
        for line in Path(folder, f"qamr_filtered_{name}.tsv").read_text(encoding="utf-8").split("\n"):
            cells = line.split("\t")
            if len(cells) < 7 or cells[0] not in texts:
                continue
            key, question, places = cells[0], cells[5].strip(), [int(x) for x in cells[6].split() if x.isdigit()]
            places = (
                [int(x) for x in cells[7].partition(":")[2].split() if x.isdigit()] or places
                if len(cells) > 7
                else places
            )
            asked = {w.lower() for w in WORD.findall(question)}
            shared = [w for w in texts[key] if len(w) > 3 and w.lower() in asked]
            if not places or (key, question) in seen or len(asked) < 4 or not shared or places[-1] - places[0] > 14:
                continue
            seen.add((key, question))
            words = [plain(word) for word in texts[key]]
            before = len(" ".join(words[: places[0]])) + (places[0] > 0)
            end = len(" ".join(words[: places[-1] + 1]))
            text = " ".join(words)
            others = [
                " ".join(plain(word) for word in texts[random.choice(keys)]) for _ in range(random.choice((0, 1, 2, 4)))
            ]
            cut = random.randint(0, len(others))
            front = " ".join(others[:cut]) + (" " if cut else "")
            passage = front + text + "".join(" " + other for other in others[cut:])
            yield {
                "document": ":".join(key.split(":")[:3]),
                "question": question,
                "passage": passage,
                "span": (len(front) + before, len(front) + end),
            }


def find_span(passage: str, answer: str) -> tuple[int, int] | None:
    answer = answer.strip().rstrip(".").strip()
    at = passage.lower().find(answer.lower()) if len(answer) > 1 else -1
    if at < 0 or len(answer) > 250 or len(passage.lower()) != len(passage):
        return None
    return at, at + len(answer)


def questions(examples: Examples, folder: str) -> None:
    qa, ni = os.path.join(folder, "qa"), os.path.join(folder, "ni")
    policy = [item for name in ("dev", "test") for item in squad_items(f"{qa}/policyqa_{name}.json", name)]
    question_source(examples, "PolicyQA", policy)
    question_source(examples, "COVID-QA", list(squad_items(f"{qa}/200423_covidQA.json", "c")), unanswerable=1.0)
    question_source(examples, "QAMR", list(qamr_items(qa)), unanswerable=0.75)
    items = []
    for row in rows(f"{qa}/fairytaleqa.jsonl"):
        span = find_span(row["context"], row["answers"][0])
        if span or random.random() < 0.5:
            items.append(
                {"document": row["story"], "question": row["question"], "passage": row["context"], "span": span}
            )
    question_source(examples, "FairytaleQA", items, unanswerable=0.9)
    items = []
    for row in rows(f"{qa}/qed-dev.jsonl"):
        text, answers = row["paragraph_text"], row["original_nq_answers"]
        for answer in min(answers, key=lambda a: sum(len(x["string"]) for x in a)) if answers else []:
            items.append(
                {
                    "document": row["title_text"],
                    "question": row["question_text"],
                    "passage": text,
                    "span": (answer["start"], answer["end"]),
                }
            )
            break
    for row in rows(f"{qa}/clapnq_dev_answerable.jsonl"):
        text, chosen = row["passages"][0]["text"], row["output"][0]["selected_sentences"]
        span = find_span(text, chosen[0]) if chosen else None
        items.append({"document": row["passages"][0]["title"], "question": row["input"], "passage": text, "span": span})
    question_source(examples, "Natural Questions (QED, CLAPnq)", items, unanswerable=1.0)
    for row in rows(f"{qa}/clapnq_dev_unanswerable.jsonl"):
        examples.add(
            "span",
            "CLAPnq",
            row["passages"][0]["title"],
            row["input"],
            row["passages"][0]["text"][:1200],
            answerable=0,
            polarity=2,
        )

    def instances(number: str):
        path = glob.glob(f"{ni}/task{number}_*.json")[0]
        return json.loads(Path(path).read_text(encoding="utf-8"))["Instances"]

    for row in instances("1640"):
        passage, _, question = row["input"].rpartition(" Question: ")
        examples.add(
            "span",
            "AdversarialQA",
            passage[:40],
            question,
            passage[:1300],
            answerable=int(row["output"][0] == "True"),
            polarity=2,
        )
    seen, items = set(), []
    for number in ("1437", "1438", "1439", "1440", "1441", "1442"):
        for row in instances(number):
            passage, *turns = row["input"].removeprefix("CONTEXT: ").split("<sep>")
            passage = passage.strip()
            for question, answer in re.findall(r"Q: (.*?) A: (.*?)(?=  Q: |\s*$)", turns[0]) if turns else ():
                span = find_span(passage, answer)
                if span and (passage[:60], question) not in seen:
                    seen.add((passage[:60], question))
                    items.append({"document": passage[:40], "question": question, "passage": passage, "span": span})
            if number in ("1439", "1442") and len(turns) > 1:
                question = turns[1].partition("FOLLOWUP_Q: ")[2].strip()
                if (passage[:60], question) not in seen:
                    seen.add((passage[:60], question))
                    yes = row["output"][0] == "Yes"
                    examples.add("span", "DoQA", passage[:40], question, passage[:1300], answerable=int(yes))
    question_source(examples, "DoQA", items, unanswerable=0.3)
    items = []
    for row in instances("237"):
        match = re.match(r"Context: (.*?)\s*Link Information: (.*?)\s*Question: (.*)$", row["input"], re.DOTALL)
        answer = row["output"][0].removeprefix("Answer: ").strip()
        if not match:
            continue
        context, link, question = match.groups()
        passage = context if link in ("none", context) else f"{context.rstrip('. ')}. {link}"
        if answer == "none":
            if random.random() < 0.5:
                examples.add("span", "IIRC", context[:40], question, passage, answerable=0, polarity=2)
        elif span := find_span(passage, answer):
            items.append({"document": context[:40], "question": question, "passage": passage, "span": span})
    question_source(examples, "IIRC", items, unanswerable=0.5)
    items = []
    for row in instances("460"):
        passage, _, question = row["input"].rpartition("\n Question: ")
        answer = row["output"][0].split("  ")[0]
        if answer.lower() not in ("yes", "no"):
            items.append(
                {"document": passage[:40], "question": question, "passage": passage, "span": find_span(passage, answer)}
            )
    question_source(examples, "Qasper", items, unanswerable=0.8)
    items = []
    for row in instances("595"):
        passage, _, question = row["input"].rpartition("\nQuestion: ")
        if span := find_span(passage, row["output"][0]):
            items.append({"document": passage[:40], "question": plain(question), "passage": passage, "span": span})
    question_source(examples, "MOCHA", items, unanswerable=0.8)
    for row in instances("846"):
        question, _, answer = row["input"].removeprefix("Question: ").partition("\nAnswer: ")
        if random.random() < 0.5:
            examples.add(
                "span", "PubMedQA", question[:40], question, answer[:1200], answerable=int(row["output"][0] == "yes")
            )
    items = [
        {"document": row["question"][:60], "question": row["question"], "passage": row["answer"][:3000]}
        for row in rows(f"{folder}/retrieval/medquad.jsonl")
        if len(row["answer"]) > 60 and random.random() < 0.2
    ]
    question_source(examples, "MedQuAD", items, unanswerable=0.9)
    items = [
        {"document": row["question"], "question": row["question"], "passage": row["answer"][:3000]}
        for row in rows(f"{folder}/retrieval/stackexchange_small.jsonl")
        if len(row["answer"]) > 60 and random.random() < 0.5
    ]
    question_source(examples, "StackExchange", items, unanswerable=0.9)
    boolean = []
    for row in instances("1661"):
        passage, _, question = row["input"].removeprefix("Passage: ").partition("\nQuestion: ")
        boolean.append((passage, question.strip() + random.choice(("", "?")), 0 if row["output"][0] == "1" else 1))
    neighbours = Neighbours([(passage[:40], passage[:900]) for passage, _, _ in boolean])
    for passage, question, polarity in boolean:
        examples.add("yesno", "BoolQ", passage[:40], question, passage[:1200], answerable=1, polarity=polarity)
        if random.random() < 0.5:
            text = neighbours.find(question, passage[:40], passage[:60], same=False)
            if text:
                examples.add("yesno", "BoolQ", passage[:40], question, text, answerable=0, polarity=2)


def omosqa(examples: Examples, folder: str) -> None:
    """Real German and English questions; the test files are read only to leave their pages out."""
    tested = {str(r["pageId"]) for code in ("de", "en") for r in rows(f"{folder}/test_{code}.jsonl")}
    for code in ("de", "en"):
        items = []
        for part in ("train", "dev"):
            for row in rows(f"{folder}/{part}_{code}.jsonl"):
                items.append((str(row["pageId"]), row["question"], row["answers"], row["context"]))
        for path in sorted(glob.glob(f"{folder}/synth/questions_w*{code}*.jsonl")):
            for row in rows(path):
                if str(row["pageId"]) not in tested and row["language"] == code:
                    items += [
                        (str(row["pageId"]), q["question"], q["answerLines"], row["context"]) for q in row["questions"]
                    ]
        items = [item for item in items if item[0] not in tested]
        print("omosqa", code, len(items))
        passages = [(key, context[:800]) for key, _, _, context in items]
        neighbours = Neighbours(passages)
        for key, question, answers, context in items:
            lines = context.split("\n")
            answers = [at for at in answers if at < len(lines)]
            for _ in range(2 if code == "de" else 1):
                if not answers:
                    examples.add(
                        "span", "OMoS-QA", key, question, stretch(context), answerable=0, polarity=2, language=code
                    )
                    continue
                starts = [sum(len(line) + 1 for line in lines[:at]) for at in range(len(lines))]
                last = answers[0]
                while last + 1 in answers and starts[last + 1] + len(lines[last + 1]) - starts[answers[0]] < 300:
                    last += 1
                cut = window(context, starts[answers[0]], starts[last] + len(lines[last]))
                if cut:
                    examples.add(
                        "span", "OMoS-QA", key, question, cut[0], span=cut[1:], answerable=1, polarity=2, language=code
                    )
                near = [text for text in lines if text] if random.random() < 0.5 else []
                near = [lines[at] for at in range(len(lines)) if at not in answers] if near else []
                text = (
                    "\n".join(near)[:900]
                    if len(near) > 3
                    else neighbours.find(question, key, lines[answers[0]], same=False)
                )
                if text and random.random() < 0.8:
                    examples.add("span", "OMoS-QA", key, question, text, answerable=0, polarity=2, language=code)


def claims(examples: Examples, folder: str, questions_share: float) -> None:
    found = []  # source, document, claim, evidence, label, title
    for name, share in (("real", 1.0), ("synthetic", 0.6)):
        for row in rows(f"{folder}/vitaminc_{name}/test.jsonl"):
            if zlib.crc32(row["case_id"].encode()) % 1000 < share * 1000:
                found.append(("VitaminC", row["page"], row["claim"], row["evidence"], LABEL[row["label"]], row["page"]))
    texts = [
        Path(folder, f"fever_dev.{name}").read_text(encoding="utf-8").split("\n")
        for name in ("raw.input1", "raw.input0", "label")
    ]
    for claim, evidence, label in zip(*texts, strict=True):
        if claim and random.random() < 0.8:
            found.append(("FEVER", evidence[:30], claim, evidence, 0 if label == "entailment" else 3, ""))
    for name in ("symmetric/dev", "symmetric/test", "adversarial/test", "triggers/test"):
        for row in rows(f"{folder}/fever_{name}.jsonl"):
            if row.get("evidence"):
                found.append(
                    ("FEVER", row["claim"], row["claim"].removesuffix("!"), row["evidence"], LABEL[row["label"]], "")
                )
    for name in ("dev", "test"):
        for row in rows(f"{folder}/fm2_{name}.jsonl"):
            gold = " ".join(piece["text"] for piece in row["gold_evidence"])
            found.append(
                ("Fool-Me-Twice", row["wikipedia_page"], row["text"], gold, LABEL[row["label"]], row["wikipedia_page"])
            )
            rest = [p["text"] for p in row["retrieved_evidence"] if p["text"] not in gold]
            if rest and random.random() < 0.5:
                found.append(
                    ("Fool-Me-Twice", row["wikipedia_page"], row["text"], " ".join(rest[:3]), 2, row["wikipedia_page"])
                )
        for row in rows(f"{folder}/wice_oracle_claim_{name}.jsonl"):
            if row["label"] != "partially_supported" or random.random() < 0.3:
                label = 0 if row["label"] == "supported" else 2
                found.append(("WiCE", row["claim"][:30], row["claim"], " ".join(row["evidence"])[:1100], label, ""))
    share = {"snli": 0.35, "mnli": 1.0, "scitail": 0.5}
    for row in rows(f"{folder}/ni_nli_pairs.jsonl"):
        if random.random() < share[row["src"]]:
            label = LABEL[row["label"]]
            found.append((row["src"].upper(), row["premise"][:40], row["hypothesis"], row["premise"], label, ""))
    evidence = [plain(item[3]) for item in found if item[0] in ("VitaminC", "Fool-Me-Twice") and len(item[3]) < 350]
    pool = [
        (document, plain(text))
        for source, document, _, text, _, _ in found
        if source in ("VitaminC", "FEVER", "Fool-Me-Twice")
    ]
    neighbours = Neighbours(list(dict.fromkeys(pool)))
    for source, document, claim, text, label, title in found:
        claim, text = plain(claim), plain(text)
        if source not in ("SNLI", "WiCE") and random.random() < 0.3:
            others = random.sample(evidence, random.choice((1, 1, 2, 3)))
            cut = random.randint(0, len(others))
            text = " ".join([*others[:cut], text, *others[cut:]])
        if title and random.random() < 0.4:
            text = f"{plain(title.replace('_', ' '))}. {text}"
        turned = negate(claim) if label in (0, 1) and source != "WiCE" and random.random() < 0.25 else None
        if turned:
            claim, label = turned, 1 - label
        wiki = source in ("VitaminC", "FEVER", "Fool-Me-Twice")
        if wiki and label < 3 and random.random() < questions_share:
            polarity, answerable = (label, 1) if label < 2 else (2, 0)
            examples.add("yesno", source, document, ask(claim), text, answerable=answerable, polarity=polarity)
            continue
        examples.add("claim", source, document, claim, text, claim=label)
        if wiki and random.random() < 0.12:
            other = neighbours.find(claim, document, text[:60], same=False)
            if other:
                examples.add("claim", source, document, claim, other, claim=2)


def parallel_claims(examples: Examples, shards: str) -> None:
    """A line of a page or its translation as the claim, lines of that page in either language as the passage."""
    for name, count in (
        ("ntrex", 2400),
        ("omosqa", 3000),
        ("msdocs", 3600),
        ("libreoffice_help", 400),
        ("tatoeba", 3000),
    ):
        pages, page = [], []
        for row in [*read_pairs(os.path.join(shards, f"pairs-{name}.txt.xz")), None]:
            if row is None:
                pages.append(page)
                page = []
            else:
                page.append(row)
        if name in ("tatoeba", "libreoffice_help"):  # no pages: runs of lines drawn at random, or in order
            lines = [line for page in pages for line in page]
            if name == "tatoeba":
                random.shuffle(lines)
            pages = [lines[at : at + 6] for at in range(0, len(lines), 6)]
        pages = [page for page in pages if len(page) > 2]
        if not pages:  # NTREX is optional
            continue
        made = 0
        for _ in range(count * 4):
            if made >= count:
                break
            number = random.randrange(len(pages))
            page = pages[number]
            at = random.randrange(len(page))
            if len(page[at][0].split()) < 5 or not page[at][0].rstrip().endswith((".", "!")) or len(page[at][0]) > 220:
                continue
            first, size = max(0, at - random.randint(0, 4)), random.randint(3, 6)
            lines = list(range(first, min(len(page), first + size)))
            if at not in lines or sum(len(page[line][0]) for line in lines) > 900:
                continue
            side = random.random() < 0.65  # the passage in German
            said = side != (random.random() < 0.6)  # the claim in German
            claim, label = page[at][said], 0
            kind = random.random()
            if kind < 0.36:
                changed = (renumber(claim) if random.random() < 0.5 else None) or negate(claim, german=said)
                if changed is None or changed == claim:
                    continue
                claim, label = changed, 1
            elif kind < 0.66:
                lines.remove(at)
                label = 2
                if len(lines) < 2:
                    continue
            passage = " ".join(page[line][side] for line in lines)
            made += 1
            language = "de" if side or said else "en"
            if random.random() < 0.22:
                polarity, answerable = (label, 1) if label < 2 else (2, 0)
                examples.add(
                    "yesno",
                    "parallel " + name,
                    number,
                    ask(claim, german=said),
                    passage,
                    answerable=answerable,
                    polarity=polarity,
                    language=language,
                )
            else:
                examples.add("claim", "parallel " + name, number, claim, passage, claim=label, language=language)


# ---------------------------------------------------------------- word pieces


def pack(rows_: list[dict], tokenizer: str, path: str) -> list[int]:
    """Write word pieces and labels as arrays; the passage is cut at ROOM pieces. Returns which examples are in."""
    from tokenizers import Tokenizer

    pieces = Tokenizer.from_file(tokenizer)
    pieces.no_padding()
    pieces.no_truncation()
    asked = pieces.encode_batch([row["q"] for row in rows_], add_special_tokens=False)
    read = pieces.encode_batch([row["p"] for row in rows_], add_special_tokens=False)
    flat, parts, kept, columns = [], [], [], collections.defaultdict(list)
    sources = sorted({row["source"] for row in rows_})
    for place, (row, question, passage) in enumerate(zip(rows_, asked, read, strict=True)):
        ids = question.ids[:QUESTION_ROOM]
        room = ROOM - len(ids) - 3
        offsets = passage.offsets[:room]
        start = end = -1
        if row["span"]:
            low, high = row["span"]
            inside = [at for at, (a, b) in enumerate(offsets) if b > low and a < high]
            if not inside or (len(passage.ids) > room and high > offsets[-1][1]):
                continue
            start, end = inside[0] + len(ids) + 2, inside[-1] + len(ids) + 2
        ends = [b for _, b in sentences(row["p"])]
        number = np.searchsorted(ends, [a for a, _ in offsets], side="right")
        kept.append(place)
        flat.append(np.array([101, *ids, 102, *passage.ids[:room], 102], np.uint16))
        parts.append(np.concatenate([np.zeros(len(ids) + 2), number + 1, [0]]).astype(np.uint8))
        for name, value in (
            ("length", len(flat[-1])),
            ("question", len(ids) + 2),
            ("start", start),
            ("end", end),
            ("task", TASKS.index(row["task"])),
            ("language", ("en", "switched", "de").index(row["language"])),
            ("source", sources.index(row["source"])),
            *((name, row[name]) for name in ("answerable", "polarity", "claim")),
        ):
            columns[name].append(value)
    arrays = {name: np.array(values, np.int32) for name, values in columns.items()}
    np.savez(path, ids=np.concatenate(flat), sentence=np.concatenate(parts), sources=np.array(sources), **arrays)
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "shards", "eval", "tokenizer", "out"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    random.seed(3)
    began = time.time()
    words = lexicon(options.shards)
    print(f"{time.time() - began:.0f} s: {len(words)} words in the lexicon", flush=True)
    examples = Examples(options.eval, words)
    questions(examples, os.path.join(options.data, "questions"))
    print(f"{time.time() - began:.0f} s: {len(examples.rows)} of questions", flush=True)
    omosqa(examples, os.path.join(options.data, "questions", "omosqa"))
    print(f"{time.time() - began:.0f} s: {len(examples.rows)} with OMoS-QA", flush=True)
    claims(examples, os.path.join(options.data, "claims"), 0.14)
    parallel_claims(examples, options.shards)
    random.shuffle(examples.rows)
    print(
        f"{time.time() - began:.0f} s: {len(examples.rows)}; left out as evaluation text: {examples.left_out}",
        flush=True,
    )
    for held, name in ((True, "valid"), (False, "train")):
        chosen = [row for row in examples.rows if row["held"] == held]
        counts = collections.Counter((row["task"], row["source"]) for row in chosen)
        made = len(pack(chosen, options.tokenizer, os.path.join(options.out, name + ".npz")))
        print(
            f"{time.time() - began:.0f} s: {name} {made}",
            {" ".join(k): v for k, v in sorted(counts.items())},
            flush=True,
        )
        for what in ("task", "language", "answerable", "polarity", "claim"):
            print(what, dict(collections.Counter((row["task"], row[what]) for row in chosen)))
    with gzip.open(os.path.join(options.out, "train.jsonl.gz"), "wt", encoding="utf-8", compresslevel=5) as file:
        for row in examples.rows:
            if row["language"] != "switched" and not row["held"]:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
