"""Which process has claimed rows, and whether it is still there."""

import os
import socket
import uuid
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Owner:
    """A process on a host. `born` tells it from a later one with the same number."""

    id: str
    host: str
    pid: int
    born: str

    @classmethod
    def this(cls) -> "Owner":
        return cls(uuid.uuid4().hex, _host(), os.getpid(), _born(os.getpid()))

    @property
    def facts(self) -> tuple[str, str, int, str]:
        return self.id, self.host, self.pid, self.born

    def sees_alive(self, host: str, pid: int, born: str) -> bool:
        """Whether a process lives, as far as can be seen from here: on another host it counts as living."""
        if host != self.host:
            return True
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return _born(pid) == born


def _host() -> str:
    """The machine and, in containers, the space in which process numbers mean something."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}"


def _born(pid: int) -> str:
    """When a process was started, in ticks since boot; empty where the system does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return ""
