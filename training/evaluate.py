"""nDCG@10 of vectors alone (no words, no fusion) on SciFact, HotpotQA-100, MuSiQue-100 and XQuAD.

    python training/evaluate.py MODEL.onnx TOKENIZER.json EVAL_DIR [--sets scifact,xquad] [--threads 2] [--batch 1]

Documents are title and text, cut at 512 pieces; vectors are the mean over the pieces, normalised. Dynamic int8
scales activations by the whole batch: one text at a time, as pincite embeds, gives slightly better vectors.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import time
from collections.abc import Callable

import numpy as np

SETS = ("scifact", "hotpotqa100", "musique100", "xquad-en-de")


def rows(path: str) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def ndcg(ranked: list[str], gold: dict[str, int], depth: int = 10) -> float:
    gain = sum((2 ** gold.get(key, 0) - 1) / math.log2(at + 2) for at, key in enumerate(ranked[:depth]))
    best = sum(
        (2**value - 1) / math.log2(at + 2) for at, value in enumerate(sorted(gold.values(), reverse=True)[:depth])
    )
    return gain / best if best else 0.0


def score(queries, keys, vectors, query_vectors, gold) -> float:
    similar = query_vectors @ vectors.T
    found = []
    for row, query in enumerate(queries):
        if gold.get(query):
            order = np.argsort(-similar[row], kind="stable")[:10]
            found.append(ndcg([keys[at] for at in order], gold[query]))
    return float(np.mean(found))


def evaluate(encode: Callable[[list[str]], np.ndarray], folder: str, sets=SETS) -> dict[str, float]:
    results = {}
    for name in sets:
        path = os.path.join(folder, name)
        corpus, queries = rows(f"{path}/corpus.jsonl.gz"), rows(f"{path}/queries.jsonl.gz")
        gold: dict[str, dict[str, int]] = {}
        with open(f"{path}/qrels.tsv", encoding="utf-8") as file:
            next(file)
            for line in file:
                query, key, value = line.split()
                gold.setdefault(query, {})[key] = int(value)
        queries = [query for query in queries if query["_id"] in gold]
        vectors = encode([f"{d.get('title') or ''} {d['text']}".strip() for d in corpus])
        query_vectors = encode([query["text"] for query in queries])
        if name != "xquad-en-de":
            results[name] = score([q["_id"] for q in queries], [d["_id"] for d in corpus], vectors, query_vectors, gold)
            continue
        for asked in ("en", "de"):
            for held in ("en", "de"):
                d = [i for i, document in enumerate(corpus) if document["_id"].startswith(held)]
                q = [i for i, query in enumerate(queries) if query["_id"].startswith(asked)]
                swapped = {key: {held + doc[2:]: value for doc, value in docs.items()} for key, docs in gold.items()}
                results[f"xquad {asked}-{held}"] = score(
                    [queries[i]["_id"] for i in q], [corpus[i]["_id"] for i in d], vectors[d], query_vectors[q], swapped
                )
    return results


def onnx_encoder(model: str, tokenizer: str, threads: int = 2, batch: int = 1):
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    wanted = {item.name for item in session.get_inputs()}
    pieces = Tokenizer.from_file(tokenizer)
    pieces.no_padding()
    pieces.enable_truncation(512)

    def encode(texts: list[str]) -> np.ndarray:
        coded = [item.ids for item in pieces.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda at: len(coded[at]))
        out = np.zeros((len(texts), 384), np.float32)
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            length = max(len(coded[at]) for at in chosen)
            ids = np.zeros((len(chosen), length), np.int64)
            mask = np.zeros_like(ids)
            for row, at in enumerate(chosen):
                ids[row, : len(coded[at])] = coded[at]
                mask[row, : len(coded[at])] = 1
            if "ids" in wanted:  # a graph of pincite: one text at a time, a unit vector comes out
                out[chosen] = session.run(None, {"ids": ids})[0]
                continue
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = session.run(None, {key: value for key, value in feed.items() if key in wanted})[0]
            mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            out[chosen] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return out

    return encode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("tokenizer")
    parser.add_argument("folder")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=1, help="1 for a graph made by weights.py export")
    options = parser.parse_args()
    encode = onnx_encoder(options.model, options.tokenizer, options.threads, options.batch)
    results: dict[str, float] = {}
    for name in options.sets.split(","):
        began = time.time()
        found = evaluate(encode, options.folder, [name])
        results |= found
        print(name, {key: round(value, 4) for key, value in found.items()}, f"{time.time() - began:.0f} s", flush=True)
    texts = [
        f"{d.get('title') or ''} {d['text']}".strip()
        for d in rows(os.path.join(options.folder, "xquad-en-de", "corpus.jsonl.gz"))[:128]
    ]
    began = time.time()
    encode(texts)
    results["passages_per_second"] = len(texts) / (time.time() - began)
    began = time.time()
    for _ in range(20):
        encode(["How many points did the Panthers defense surrender?"])
    results["query_ms"] = (time.time() - began) / 20 * 1000
    print(json.dumps({key: round(value, 4) for key, value in results.items()}))


if __name__ == "__main__":
    main()
