"""What is open in each thread: `with` in Python, construction to destruction in C++."""

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Generic, Protocol, TypeVar

from typing_extensions import Self


class Closable(Protocol):
    def close(self) -> None: ...


Scope = TypeVar("Scope", bound=Closable)
Entry = TypeVar("Entry")


class Scoped(ABC, Generic[Scope]):
    """What `with` opens: at most once at a time in each thread."""

    def __init__(self) -> None:
        self._thread = threading.local()

    @abstractmethod
    def _open(self) -> Scope:
        """Opens it in C++."""

    def _leave(self, scope: Scope) -> None:
        """Before it is closed."""

    def _current(self) -> Scope | None:
        """What this thread has open."""
        return getattr(self._thread, "scope", None)

    def __enter__(self) -> Self:
        if self._current() is not None:
            raise RuntimeError(
                f"fewbit.{type(self).__name__}: it is open in this thread already; leave that "
                "`with` block first, or use another object"
            )
        self._thread.scope = self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        scope = self._current()
        if scope is None:
            raise RuntimeError(
                f"fewbit.{type(self).__name__}: it is not open in this thread "
                f"({threading.current_thread().name}); a `with` block has to be left in the thread "
                "that entered it"
            )
        self._thread.scope = None
        try:
            self._leave(scope)
        finally:
            scope.close()


class Reporting(Closable, Protocol[Entry]):
    def entries(self) -> list[Entry]: ...
    def report(self) -> str: ...


class ReportingScope(Scoped[Reporting[Entry]], Generic[Entry]):
    """One that tells what met it, also once it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self._told: tuple[list[Entry], str] = ([], "")

    def _leave(self, scope: Reporting[Entry]) -> None:
        self._told = scope.entries(), scope.report()

    def entries(self) -> list[Entry]:
        """What met the latest forward, with its outcome."""
        scope = self._current()
        return self._told[0] if scope is None else scope.entries()

    def report(self) -> str:
        """entries() as a table."""
        scope = self._current()
        return self._told[1] if scope is None else scope.report()
