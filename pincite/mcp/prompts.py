"""Prompts of the Model Context Protocol: what users start from the menu of their client."""

from collections.abc import Mapping

import mcp_types as types

from pincite.errors import Invalid, NotFound


def _argument(name: str, description: str, *, required: bool = True) -> types.PromptArgument:
    return types.PromptArgument(name=name, description=description, required=required)


PROMPTS: Mapping[str, types.Prompt] = {
    "answer_with_citations": types.Prompt(
        name="answer_with_citations",
        title="Answer from my documents",
        description="Answer a question from the documents, with checkable citations.",
        arguments=[
            _argument("question", "The question."),
            _argument("folder", "Only documents in this folder.", required=False),
        ],
    ),
    "summarise_document": types.Prompt(
        name="summarise_document",
        title="Summarise a document",
        description="Summarise one document, with the lines each statement is from.",
        arguments=[_argument("document", "The id of the document, or its file name.")],
    ),
}
_TEXTS: Mapping[str, str] = {
    "answer_with_citations": (
        "Answer this question from my documents with the tool ask{folder}. Keep every citation mark and list the sources."
        " If the documents do not answer it, say so.\n\nQuestion: {question}"
    ),
    "summarise_document": (
        "Read the document '{document}' with the tool read_document (as doc_id, or as source_uri if it is a file name)."
        " Summarise it in at most ten sentences, and name the lines that each sentence is from."
    ),
}


def prompt_messages(name: str, arguments: Mapping[str, str]) -> str:
    """Return the text of a prompt; `Invalid` names an argument that is missing."""
    if name not in PROMPTS:
        raise NotFound(f"there is no prompt '{name[:100]}'; there are: {', '.join(PROMPTS)}")
    for one in PROMPTS[name].arguments or []:
        if one.required and not arguments.get(one.name, "").strip():
            raise Invalid(f"the prompt '{name}' needs the argument '{one.name}'")
    folder = f", folder '{arguments['folder']}'" if arguments.get("folder") else ""
    return _TEXTS[name].format_map({**arguments, "folder": folder})
