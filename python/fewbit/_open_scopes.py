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
        self._thread = threading.local()

    def check_closed(self) -> None:
        """Raises RuntimeError where this thread has it open."""
        if self.current() is not None:
            raise RuntimeError(
                f"{self._who}: it is open in this thread already; leave that `with` block first, "
                "or use another object"
            )

    def add(self, scope: Scope) -> None:
        self._thread.scope = scope

    def current(self) -> Scope | None:
        """What this thread has open."""
        return getattr(self._thread, "scope", None)

    def close(self) -> None:
        """Raises RuntimeError where this thread has nothing open."""
        scope = self.current()
        if scope is None:
            raise RuntimeError(
                f"{self._who}: it is not open in this thread ({threading.current_thread().name}); "
                "a `with` block has to be left in the thread that entered it"
            )
        self._thread.scope = None
        scope.close()
