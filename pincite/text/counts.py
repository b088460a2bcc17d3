"""Numbers in messages: a count with its noun, and a size in bytes."""


def count(number: int, one: str, many: str = "") -> str:
    """`1 passage`, `2 passages`, `1,200 passages`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: float) -> str:
    """A size in bytes with a unit: `1.2 MB`."""
    units = ["bytes", "KB", "MB", "GB", "TB"]
    while number >= 1024 and len(units) > 1:
        number, units = number / 1024, units[1:]
    whole = units[0] == "bytes" or number >= 100
    return f"{number:,.0f} {units[0]}" if whole else f"{number:.1f} {units[0]}"
