"""Tables for notebooks."""

import html
from collections.abc import Iterable, Sequence


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """An HTML table: numbers to the right, texts escaped."""
    head = "".join(f"<th style='text-align:left'>{html.escape(header)}</th>" for header in headers)
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows)
    return (
        f"<table><caption style='text-align:left'>{html.escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(text: str) -> str:
    is_number = text.replace(",", "").replace(".", "").replace("e-", "").isdigit()
    side = "right" if is_number else "left"
    return f"<td style='text-align:{side}'>{html.escape(text)}</td>"
