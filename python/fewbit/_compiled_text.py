"""compiled_sites() of a Compressor as a table."""

from collections.abc import Sequence

from fewbit._graph_hooks import CompiledSite

_HEADERS = ("graph", "operation", "module", "stored", "elements", "bytes before", "after")
_NUMBERS_FROM = 4


def text_of(sites: Sequence[CompiledSite]) -> str:
    """A table, the largest tensors first, with totals; "" for none."""
    if not sites:
        return ""
    rows = [_row(site) for site in sorted(sites, key=lambda site: -site.bytes_before)]
    before, after = (
        f"{sum(getattr(site, name) for site in sites):,}"
        for name in ("bytes_before", "bytes_after")
    )
    table = [_HEADERS, *rows, ("all", "", "", "", "", before, after)]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEADERS))]
    title = "graphs of torch.compile (no classes, directions or recomputation from codes there)"
    return f"\n{title}\n" + "".join(
        "  ".join(_cell(row[column], column, width) for column, width in enumerate(widths)).rstrip()
        + "\n"
        for row in table
    )


def _row(site: CompiledSite) -> tuple[str, ...]:
    stored = f"{site.stored}: {site.reason}" if site.reason else site.stored
    numbers = (site.elements, site.bytes_before, site.bytes_after)
    names = (str(site.graph), site.operation, site.module, stored)
    return (*names, *(f"{number:,}" for number in numbers))


def _cell(text: str, column: int, width: int) -> str:
    return text.rjust(width) if column >= _NUMBERS_FROM else text.ljust(width)
