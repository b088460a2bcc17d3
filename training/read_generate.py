"""Let a language model write documents and questions and translate examples, for the reader to learn from.

    python training/read_generate.py passages --shards SHARDS --out PASSAGES.jsonl.gz
    python training/read_generate.py write --model PARTS --passages PASSAGES.jsonl.gz --base READ/train.jsonl.gz \
        --out TEXTS --seconds 480
    python training/read_generate.py examples --texts TEXTS --base READ/train.jsonl.gz --tokenizer TOKENIZER.json \
        --reader READER.npz --out OUT

`passages` draws passages of the training sources. `write` runs on a GPU: the model writes office papers and short
encyclopaedic articles, then questions with answers copied from a passage; then it translates questions, claims and
sentences of passages, its own and those of READ, into German. `examples` keeps what an earlier reader confirms (an
answer that it finds again; a passage without the answer that it does not call answerable), and joins originals and
translations: question or passage or both in German.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import random
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prepare import rows, tidy
from read_prepare import NAME, Neighbours, find_span, pack, renumber, sentences, stretch, window
from translate import chat, known, language_of, pack_joined

PAPERS = {
    "en": "email to all staff|internal policy|meeting minutes|price list|notice on a door|house rules|contract clause|"
    "job advertisement|product manual section|FAQ page|travel expense rule|project status report|safety instruction|"
    "newsletter item|event invitation|complaint letter|offer letter|invoice note|maintenance log|training plan|"
    "privacy notice|delivery note|insurance letter|annual report section|course description|recipe for the canteen|"
    "membership terms|tenancy agreement section|press release|handover note|shift plan|warranty terms|board resolution|"
    "audit finding|research abstract|city council decision|school letter to parents|club statutes|booking terms|IT how-to",
    "de": "Rundmail an alle Mitarbeiter|interne Richtlinie|Protokoll einer Sitzung|Preisliste|Aushang an der Tür|"
    "Hausordnung|Vertragsklausel|Stellenanzeige|Abschnitt eines Handbuchs|Seite mit häufigen Fragen|Reisekostenregelung|"
    "Projektbericht|Sicherheitsanweisung|Meldung im Newsletter|Einladung|Beschwerdebrief|Angebot|Hinweis zur Rechnung|"
    "Wartungsprotokoll|Schulungsplan|Datenschutzhinweis|Lieferschein|Brief einer Versicherung|"
    "Abschnitt eines Geschäftsberichts|Kursbeschreibung|Rezept für die Kantine|Mitgliedsbedingungen|"
    "Abschnitt eines Mietvertrags|Pressemitteilung|Übergabenotiz|Schichtplan|Garantiebedingungen|"
    "Beschluss des Vorstands|Prüfbericht|Zusammenfassung einer Studie|Beschluss des Stadtrats|Elternbrief einer Schule|"
    "Vereinssatzung|Buchungsbedingungen|IT-Anleitung",
}
HOUSES = {
    "en": "bakery chain|hospital|software company|city library|swimming pool|vineyard|bicycle shop|university|ferry line|"
    "law firm|tax adviser|kindergarten|museum|hotel|wind farm|publisher|housing cooperative|zoo|theatre|fire brigade|"
    "sports club|car workshop|pharmacy|bank branch|airport|farm|logistics company|dental practice|music school|"
    "architect's office|research institute|food bank|travel agency|brewery|print shop|animal shelter|laboratory|"
    "railway company|newspaper|charity",
    "de": "Bäckereikette|Klinik|Softwarefirma|Stadtbücherei|Schwimmbad|Weingut|Fahrradladen|Hochschule|Fährlinie|"
    "Anwaltskanzlei|Steuerberatung|Kita|Museum|Hotel|Windpark|Verlag|Wohnungsgenossenschaft|Zoo|Theater|Feuerwehr|"
    "Sportverein|Autowerkstatt|Apotheke|Bankfiliale|Flughafen|Bauernhof|Spedition|Zahnarztpraxis|Musikschule|"
    "Architekturbüro|Forschungsinstitut|Tafel|Reisebüro|Brauerei|Druckerei|Tierheim|Labor|Bahngesellschaft|Zeitung|"
    "Stiftung",
}
TOPICS = {
    "en": "opening hours|holidays and leave|sick notes|parking|keys and access cards|visitors|returns and refunds|"
    "payment deadlines|working from home|lost property|fire drills|computer passwords|backups|booking a room|"
    "travel costs|overtime|probation period|notice periods|discounts|membership fees|delivery times|waste separation|"
    "cleaning duties|pets|smoking|noise and quiet hours|equipment loans|first aid|data protection|complaints|"
    "budget of a project|a new branch|a machine that broke down|test results|quarterly sales|staff changes|"
    "a move to a new building|a price increase|an anniversary|insurance cover|liability|catering|energy saving|"
    "a customer survey|training courses|registration for a course|exam rules|a supplier change|software update|"
    "meeting decisions|open tasks and who does them|spare parts|temperature limits|allergens|age limits",
    "de": "Öffnungszeiten|Urlaub und Feiertage|Krankmeldung|Parkplätze|Schlüssel und Zugangskarten|Besucher|"
    "Rückgabe und Erstattung|Zahlungsfristen|Homeoffice|Fundsachen|Brandschutzübung|Passwörter|Datensicherung|"
    "Raumbuchung|Reisekosten|Überstunden|Probezeit|Kündigungsfristen|Rabatte|Mitgliedsbeiträge|Lieferzeiten|"
    "Mülltrennung|Putzdienst|Haustiere|Rauchen|Ruhezeiten|Verleih von Geräten|Erste Hilfe|Datenschutz|Beschwerden|"
    "Budget eines Projekts|eine neue Filiale|eine ausgefallene Maschine|Testergebnisse|Umsatz im Quartal|"
    "personelle Änderungen|Umzug in ein neues Gebäude|eine Preiserhöhung|ein Jubiläum|Versicherungsschutz|Haftung|"
    "Verpflegung|Energiesparen|eine Kundenumfrage|Fortbildungen|Anmeldung zu einem Kurs|Prüfungsordnung|"
    "Wechsel eines Lieferanten|Softwareaktualisierung|Beschlüsse|offene Aufgaben und wer sie erledigt|Ersatzteile|"
    "Temperaturgrenzen|Allergene|Altersgrenzen",
}
SUBJECTS = {
    "en": "a medieval king|a river|a bridge|a football club|a chemical element|a battle|a painter|a disease|an island|"
    "a university|a plant|an insect|a space mission|a railway line|a composer|a mountain range|a law|a political party|"
    "a city|a church|an earthquake|a film|a novel|a computer language|an empire|a treaty|a physicist|a volcano|a ship|"
    "a bird species|an economic crisis|an invention|a sports tournament|a television series|a mineral|a desert|a museum|"
    "a language|an organ of the body|a revolution|a company|a music festival|a philosopher|a theorem|a canal|a castle",
    "de": "einen mittelalterlichen König|einen Fluss|eine Brücke|einen Fußballverein|ein chemisches Element|"
    "eine Schlacht|einen Maler|eine Krankheit|eine Insel|eine Universität|eine Pflanze|ein Insekt|eine Raumfahrtmission|"
    "eine Eisenbahnlinie|einen Komponisten|ein Gebirge|ein Gesetz|eine politische Partei|eine Stadt|eine Kirche|"
    "ein Erdbeben|einen Film|einen Roman|eine Programmiersprache|ein Reich|einen Vertrag|einen Physiker|einen Vulkan|"
    "ein Schiff|eine Vogelart|eine Wirtschaftskrise|eine Erfindung|ein Sportturnier|eine Fernsehserie|ein Mineral|"
    "eine Wüste|ein Museum|eine Sprache|ein Organ des Körpers|eine Revolution|ein Unternehmen|ein Musikfestival|"
    "einen Philosophen|einen mathematischen Satz|einen Kanal|eine Burg",
}
FIRST = "Anna Ben Clara David Elif Frank Greta Hassan Ines Jonas Karin Liam Maria Nils Olga Paul Rosa Samir Tilda Umut Vera Wim Yara Zoe Petra Markus Sabine Tomasz Priya Lars".split()
LAST = "Wolff Keller Brandt Okafor Novak Schulz Hansen Romero Yilmaz Becker Lindholm Moreau Fischer Tanaka Adler Kowalski Vogt Singh Berger Jansen Reuter Falk Stein Costa Huber Nguyen Arnold Peters Marsh Doyle".split()
PLACES = "Bremen Leeds Graz Porto Kiel Malmo Basel Ulm York Lyon Gera Turin Cork Brno Linz Aachen Bergen Dover Fulda Jena".split()
MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
}
PAIR = re.compile(r"(?:^|Q:)\s*([^\n]+?\?)\s*\n+A:\s*([^\n]+)")


def facts(language: str) -> str:
    """Five made-up details for the model to use."""
    german = language == "de"
    day, month, year = random.randint(1, 28), random.choice(MONTHS[language]), random.randint(1987, 2027)
    amount = random.choice((random.randint(3, 95), random.randint(100, 9900), random.randint(12, 480) * 1000))
    number = f"{amount:,}".replace(",", ".") if german else f"{amount:,}"
    choices = [
        f"{random.choice(FIRST)} {random.choice(LAST)}",
        random.choice(LAST) + random.choice((" GmbH", " Ltd", " AG", " & Co")),
        random.choice(PLACES),
        f"{day}. {month} {year}" if german else f"{day} {month} {year}",
        f"{number} Euro" if german else random.choice((f"{number} euros", f"${number}", f"£{number}")),
        f"{random.randint(2, 90)} "
        + random.choice(("Tage", "Wochen", "Monate") if german else ("days", "weeks", "months")),
        f"{random.randint(2, 95)} " + random.choice(("Prozent", "%") if german else ("percent", "%")),
        f"{random.randint(6, 22)}{random.choice((':30', ':15', ':00'))} " + ("Uhr" if german else ""),
        random.choice(("Raum ", "Gebäude ") if german else ("room ", "building "))
        + f"{random.choice('ABCDE')}{random.randint(1, 40)}",
        f"{random.choice('ABEKMSTX')}{random.choice(('-', ''))}{random.randint(10, 9999)}",
        f"{random.randint(2, 400)} "
        + random.choice(
            ("Personen", "Stück", "kg", "km", "Liter") if german else ("people", "pieces", "kg", "km", "litres")
        ),
    ]
    return ", ".join(item.strip() for item in random.sample(choices, random.randint(4, 6)))


def document_prompt(language: str) -> tuple[str, str]:
    """A prompt for one document, and its title."""

    def any_of(lists: dict[str, str]) -> str:
        return random.choice(lists[language].split("|"))

    german, size = language == "de", random.choice((60, 90, 120, 150))
    if random.random() < 0.3:
        subject = any_of(SUBJECTS)
        if german:
            text = f"Schreibe den Anfang eines Lexikonartikels über {subject} (erfunden ist erlaubt), mit vielen genauen Angaben, zum Beispiel: {facts('de')}. Etwa {size} Wörter, fließender Text."
        else:
            text = f"Write the beginning of an encyclopaedia article about {subject} (you may invent it), with many exact details, for example: {facts('en')}. About {size} words, running text."
        return chat(text), ""
    paper, house, topic = any_of(PAPERS), any_of(HOUSES), any_of(TOPICS)
    if german:
        text = f"Schreibe ein Dokument: {paper}, {house}, Thema: {topic}. Verwende diese Angaben: {facts('de')}. Nenne klare Regeln, auch eine Ausnahme und ein Verbot. Keine Platzhalter, etwa {size} Wörter."
    else:
        text = f"Write a document: {paper}, {house}, subject: {topic}. Use these details: {facts('en')}. State clear rules, also an exception and something that is not allowed. No placeholders, about {size} words."
    return chat(text), f"{paper[0].upper()}{paper[1:]}: {topic}"


def question_prompt(passage: str, language: str) -> str:
    if language == "de":
        return chat(
            f"Text:\n{passage}\n\nSchreibe vier verschiedene kurze Fragen auf Deutsch, die jemand stellen könnte, der "
            "den Text nicht kennt, und die der Text beantwortet: eine nach einer Zahl, einem Datum oder Betrag, eine "
            "nach einer Person, Sache oder einem Ort, eine nach einer Regel oder einem Grund, eine mit anderen Worten "
            "als im Text. Nach jeder Frage die kürzeste Antwort, wörtlich aus dem Text kopiert.\n"
            "Form:\nQ: Frage\nA: Antwort",
            "Q:",
        )
    return chat(
        f"Text:\n{passage}\n\nWrite four different short questions that somebody who does not know the text could ask "
        "and that the text answers: one about a number, date or amount, one about a person, thing or place, one about "
        "a rule or reason, one in other words than the text. After each question give the shortest answer, copied "
        "word for word from the text.\nFormat:\nQ: question\nA: answer",
        "Q:",
    )


def passages(options: argparse.Namespace) -> None:
    """Passages of the training sources as JSON lines: text, language, source, page."""
    found = []
    for name, count in (("msdocs", 5000), ("omosqa", 2500), ("ntrex", 700), ("libreoffice_help", 600)):
        page, pages = [], []
        with lzma.open(os.path.join(options.shards, f"pairs-{name}.txt.xz"), "rt", encoding="utf-8") as file:
            for line in file:
                english, _, german = line.rstrip("\n").partition("\t")
                if german:
                    page.append((english, german))
                elif page:
                    pages.append(page)
                    page = []
        pages.append(page)
        if name == "libreoffice_help":
            lines = [line for page in pages for line in page]
            pages = [lines[at : at + 30] for at in range(0, len(lines), 30)]
        pages = [page for page in pages if sum(len(e) for e, _ in page) > 250]
        for _ in range(count):
            number = random.randrange(len(pages))
            page, side = pages[number], random.random() < 0.7
            at, text = random.randrange(max(1, len(page) - 3)), ""
            while at < len(page) and len(text) < random.randint(300, 900):
                text += page[at][side] + random.choice((" ", " ", "\n"))
                at += 1
            found.append({"text": text.strip(), "language": "de" if side else "en", "source": name, "page": number})
    with lzma.open(os.path.join(options.shards, "english.txt.xz"), "rt", encoding="utf-8") as file:
        long = [text for line in file if 350 < len(text := line.strip()) < 4000]
    for text in random.sample(long, 9000):
        found.append({"text": stretch(text), "language": "en", "source": "english", "page": hash(text) % 10**9})
    seen, kept = set(), []
    for item in found:
        if item["text"] not in seen and 150 < len(item["text"]) < 1300:
            seen.add(item["text"])
            kept.append(item)
    random.shuffle(kept)
    with gzip.open(options.out, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(item, ensure_ascii=False) + "\n" for item in kept)
    print(len(kept), "passages")


def save(folder: str, name: str, items: list[dict]) -> None:
    with gzip.open(os.path.join(folder, name + ".jsonl.gz"), "wt", encoding="utf-8", compresslevel=4) as file:
        file.writelines(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    print(len(items), name, flush=True)


def write(options: argparse.Namespace) -> None:
    """Documents, then questions, each until its share of the time is up."""
    from language_model import LanguageModel

    began = time.time()
    os.makedirs(options.out, exist_ok=True)
    model = LanguageModel(options.model, options.device)
    print(f"{time.time() - began:.0f} s: model read", flush=True)

    languages = ["de" if random.random() < 0.25 else "en" for _ in range(options.documents)]
    prompts = [document_prompt(language) for language in languages]
    deadline = began + 0.45 * options.seconds
    texts = model.write([prompt for prompt, _ in prompts], 260, 0.9, options.batch, deadline)
    items = []
    for number, (text, language, (_, title)) in enumerate(zip(texts, languages, prompts, strict=True)):
        text = re.sub(r"^#+ *|\*\*|__|^```\w*$", "", text, flags=re.MULTILINE)
        text = re.sub(r"\n{2,}", "\n", text).strip()
        text = "".join(text[a:b] for a, b in sentences(text) if b <= 1150 and "[" not in text[a:b]).strip()
        if len(text) > 180:
            items.append({"text": text, "language": language, "source": "written", "page": number, "title": title})
    save(options.out, "documents", items)
    items += list(rows(options.passages))
    random.shuffle(items)
    prompts = [question_prompt(item["text"], item["language"]) for item in items]
    texts = model.write(prompts, 150, 0.6, options.batch, began + options.seconds)
    save(options.out, "questions", [item | {"written": text} for item, text in zip(items, texts, strict=True) if text])


def shown(item: dict) -> str:
    """The passage as the reader sees it: half of them under their title."""
    return f"{item['title']}\n{item['text']}" if item.get("title") and random.random() < 0.5 else item["text"]


def question_rows(items: list[dict]) -> list[dict]:
    """Examples of written questions: answerable ones, and the same questions with a passage that lacks the answer."""
    made = []
    near = Neighbours([(str(item["page"]), item["text"]) for item in items])
    names = [name for item in items for name in NAME.findall(item["written"])]

    def add(question: str, passage: str, language: str, span=None) -> None:
        made.append(
            {"task": "span", "source": "written", "held": False, "q": question, "p": passage, "span": span}
            | {"answerable": int(span is not None), "polarity": 2, "claim": -1, "language": language}
        )

    for item in items:
        for question, answer in PAIR.findall(item["written"])[:4]:
            question, answer = tidy(question), answer.strip().strip("\"'„“").strip()
            text = shown(item)
            span = find_span(text, answer)
            if not 12 < len(question) < 200 or language_of(question) != item["language"] or span is None:
                continue
            if len(answer) > 160 or answer.lower() in question.lower():
                continue
            cut = window(text, *span) if random.random() < 0.5 else (text, *span)
            if cut is None:
                continue
            add(question, cut[0], item["language"], cut[1:])
            kind, passage, other = random.random(), None, question
            if kind < 0.4:
                kept = [text[a:b].strip() for a, b in sentences(text) if b <= span[0] or a >= span[1]]
                passage = "\n".join(kept) if len(kept) > 1 else None
            elif kind < 0.55:
                match = next(iter(NAME.finditer(question)), None)
                if match and names and random.random() < 0.7:
                    other = question[: match.start()] + random.choice(names) + question[match.end() :]
                else:
                    other = renumber(question) or question
                passage = text if other != question else None
            if passage is None:
                other, passage = question, near.find(question + " " + item["text"][:200], str(item["page"]), answer)
            if passage and (other != question or answer.lower() not in passage.lower()):
                add(other, passage, item["language"])
    return made


def written_rows(job: tuple) -> list[dict]:
    items, seed = job
    random.seed(seed)
    return question_rows(items)


def packed(job: tuple) -> list[dict]:
    made, tokenizer, path = job
    return [made[at] for at in pack(made, tokenizer, path)]


def examples(options: argparse.Namespace) -> None:
    import torch
    from read_model import Reader
    from read_train import COLUMNS, Examples, outputs

    began = time.time()
    folder, count = Path(options.out, "unchecked"), options.processes
    folder.mkdir(parents=True, exist_ok=True)
    items = sorted(rows(os.path.join(options.texts, "questions.jsonl.gz")), key=lambda item: item["source"])
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    with ProcessPoolExecutor(count) as pool:
        made = list(pool.map(written_rows, [(items[number::count], number) for number in range(count)]))
        paths = [str(folder / f"train-{number}.npz") for number in range(count)]
        kept = pool.map(packed, [(part, options.tokenizer, path) for part, path in zip(made, paths, strict=True)])
        own = [row for part in kept for row in part]
    data = Examples(paths, options.device)
    print(f"{time.time() - began:.0f} s: {len(data)} examples before the check", flush=True)
    model = Reader(dict(np.load(options.reader))).to(options.device)
    good = np.zeros(len(data), bool)
    with torch.no_grad():
        for group in data.groups(np.arange(len(data)), 60000):
            batch = data.batch(group)
            start, end, answerable, _, _ = outputs(model, batch)
            chance = answerable.sigmoid()
            a = batch["start"].clamp(min=0)[:, None]
            places = torch.arange(start.shape[1], device=start.device)[None]
            inside = (places >= a) & (places <= batch["end"].clamp(min=0)[:, None])
            found = (start.softmax(-1) * inside).sum(1) * (end.softmax(-1) * inside).sum(1)
            same = (batch["sentence"].gather(1, a) == batch["sentence"]) & (batch["types"] == 1)
            positive = (chance > 0.3) & ((found > 0.03) | ((start.softmax(-1) * same).sum(1) > 0.4))
            good[group] = torch.where(batch["answerable"] == 1, positive, chance < 0.7).cpu().numpy()
    answerable = data.columns["answerable"].cpu().numpy()
    for value in (1, 0):
        print(f"answerable {value}: {int((good & (answerable == value)).sum())} of {int((answerable == value).sum())}")
    own = [row for row, fine in zip(own, good, strict=True) if fine]
    columns = {name: data.columns[name].cpu().numpy()[good].astype(np.int32) for name in COLUMNS}
    taken = np.repeat(good, data.length)
    ids, sentence = (grid.cpu().numpy()[taken] for grid in (data.ids, data.sentence))
    path = os.path.join(options.out, "train-written.npz")
    np.savez(path, ids=ids.astype(np.uint16), sentence=sentence.astype(np.uint8), **columns)
    german = known(options.texts)
    base = [row for row in (*rows(options.base), *own) if row["language"] == "en"]
    made_german = pack_joined(base, german, options.tokenizer, options.out, count)
    print(f"{time.time() - began:.0f} s: {len(own)} written, {made_german} with German of {len(base)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("passages", "write", "examples"))
    for name in ("shards", "out", "model", "passages", "base", "texts", "tokenizer", "reader"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--documents", type=int, default=14000)
    parser.add_argument("--batch", type=int, default=768)
    parser.add_argument("--processes", type=int, default=14)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    random.seed(5)
    {"passages": passages, "write": write, "examples": examples}[options.what](options)


if __name__ == "__main__":
    main()
