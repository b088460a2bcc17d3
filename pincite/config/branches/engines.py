"""Settings of the engines whose data is built beside the index: knowledge graph, summary tree, late interaction."""

from typing import Literal

from pydantic import Field

from pincite.config.branches.base import Branch


class Graph(Branch):
    """The knowledge graph of entities and facts; see docs/graph.md."""

    build: Literal["off", "rules", "model"] = Field(
        default="off",
        description="How entities and facts are extracted, in the background after a document is served: not at all, by "
        "rules, or by the language model with one call per passage. For existing documents: `pincite reindex --graph`.",
    )
    vectors: bool = Field(
        default=False,
        description="Embed entities and facts, which `rag.dual_level` needs; this takes about as long as embedding the "
        "passages.",
    )


class Tree(Branch):
    """The tree of summaries."""

    build: Literal["off", "rules", "model"] = Field(
        default="off",
        description="How the summaries of the tree are made, in the background after a document is served: not at all, "
        "of the most central sentences, or by the language model. For existing documents: `pincite reindex --tree`.",
    )


class Late(Branch):
    """Late interaction: the vectors of a passage's tokens."""

    build: Literal["off", "on"] = Field(
        default="off",
        description="Whether token vectors are stored, in the background after a document is served. For existing "
        "documents: `pincite reindex --late`.",
    )
    model: str = Field(
        default="",
        description="Folder of a ColBERT model, with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. Empty: the "
        "tokens of the embedder, if it runs on this machine.",
    )
    search: bool = Field(
        default=False,
        description="Also search the tokens, by an index of their centroids, in libraries of up to 100,000 passages; "
        "without it, late interaction ranks what the other engines found. Build again after a change.",
    )
