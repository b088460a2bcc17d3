"""Writes formulas of Office files on one line."""

from pincite.parsers.office.package import Element, local_name


def formula(element: Element) -> str:
    """A formula on one line: `(a)/(b)`, `x^2`, `√(x)`."""
    name = local_name(element)
    if name == "t":
        return str(element.text or "")
    texts = [(local_name(one), formula(one)) for one in element]
    parts = dict(texts)
    if name == "f":
        return f"({parts.get('num', '')})/({parts.get('den', '')})"
    if name == "rad":
        return f"√({parts.get('e', '')})"
    if name in ("sSup", "sSub", "sSubSup"):
        low = f"_{parts['sub']}" if parts.get("sub") else ""
        high = f"^{parts['sup']}" if parts.get("sup") else ""
        return f"{parts.get('e', '')}{low}{high}"
    return "".join(text for _, text in texts)
