"""Formulas of Office files, written on one line."""

from pincite.parsers.office.package import Element, local


def formula(element: Element) -> str:
    """A formula on one line: `(a)/(b)`, `x^2`, `√(x)`."""
    name = local(element)
    if name == "t":
        return str(element.text or "")
    told = [(local(one), formula(one)) for one in element]
    parts = dict(told)
    if name == "f":
        return f"({parts.get('num', '')})/({parts.get('den', '')})"
    if name == "rad":
        return f"√({parts.get('e', '')})"
    if name in ("sSup", "sSub", "sSubSup"):
        low = f"_{parts['sub']}" if parts.get("sub") else ""
        high = f"^{parts['sup']}" if parts.get("sup") else ""
        return f"{parts.get('e', '')}{low}{high}"
    return "".join(text for _, text in told)
