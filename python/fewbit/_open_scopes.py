"""What is open in each thread: `with` in Python, construction to destruction in C++."""

import threading
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    def close(self) -> None: ...


Scope = TypeVar("Scope", bound=Closable)


class OpenScopes(Generic[Scope]):
    """The scopes that one object has open, at most one in each thread.

    who: its class, for messages.
    """

    def __init__(self, who: str) -> None:
        self._who = who
        self._by_thread: dict[int, Scope] = {}

    def check_closed(self) -> None:
        """Raises RuntimeError where this thread has it open."""
        if threading.get_ident() in self._by_thread:
            raise RuntimeError(
                f"{self._who}: it is open in this thread already; leave that `with` block first, "
                "or use another object"
            )

    def add(self, scope: Scope) -> None:
        self._by_thread[threading.get_ident()] = scope

    def current(self) -> Scope | None:
        """What this thread has open."""
        return self._by_thread.get(threading.get_ident())

    def close(self) -> None:
        """Raises RuntimeError where this thread has nothing open."""
        scope = self._by_thread.pop(threading.get_ident(), None)
        if scope is None:
            raise RuntimeError(
                f"{self._who}: it is not open in this thread ({threading.current_thread().name}); "
                "a `with` block has to be left in the thread that entered it"
            )
        scope.close()
