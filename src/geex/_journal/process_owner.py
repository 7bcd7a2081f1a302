"""A process as the owner of claims, and whether it runs on this machine."""

import os
import socket
import uuid
from dataclasses import dataclass
from pathlib import Path

# File systems (the start of their names) that several machines may share: SQLite's write-ahead log does not work there.
NETWORKS = ("nfs", "cifs", "smb", "fuse", "9p", "lustre", "gpfs", "ceph", "glusterfs", "afs", "beegfs")

_here: set[str] = set()  # the owners in this process that have not ended


@dataclass(frozen=True)
class Owner:
    """A process on a host. `born` distinguishes it from a later process with the same number."""

    id: str
    host: str
    pid: int
    born: str

    @classmethod
    def this(cls) -> "Owner":
        """Return a new owner in this process."""
        owner = cls(uuid.uuid4().hex, _host(), os.getpid(), _born(os.getpid()))
        _here.add(owner.id)
        return owner

    def end(self) -> None:
        """End the owner, though its process may live on."""
        _here.discard(self.id)

    @property
    def facts(self) -> tuple[str, str, int, str]:
        return self.id, self.host, self.pid, self.born

    def is_alive(self, owner: str, host: str, pid: int, born: str) -> bool:
        """Return whether another owner is alive. On another host this cannot be checked: its heartbeat decides."""
        if host != self.host:
            return True
        if pid == self.pid:
            return owner in _here
        try:
            os.kill(pid, 0)  # sends nothing, and raises an error if there is no such process
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return _born(pid) == born


def on_network(path: Path) -> bool:
    """Return whether several machines may share the file system of a path; False where this cannot be found out."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    except OSError:
        return False
    folder = str(path.absolute().parent.resolve())
    holding = [(place, kind) for _, place, kind, *_ in mounts if f"{folder}/".startswith(f"{place.rstrip('/')}/")]
    return max(holding, key=lambda mount: len(mount[0]))[1].startswith(NETWORKS) if holding else False


def _host() -> str:
    """Return the machine and, for containers, the namespace of its process numbers."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}"


def _born(pid: int) -> str:
    """Return when a process was started, in ticks since boot; "" where the system does not provide it.

    A zombie, which has ended and waits for its parent, has no start.
    """
    try:
        state, *facts = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return "" if state in "ZX" else facts[18]
    except (OSError, IndexError):
        return ""
