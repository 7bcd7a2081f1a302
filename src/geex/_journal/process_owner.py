"""Which process has claimed rows, and whether it is still there."""

import os
import socket
import uuid
from dataclasses import dataclass
from pathlib import Path

NETWORKS = ("nfs", "cifs", "smb", "fuse", "9p", "lustre", "gpfs", "ceph", "glusterfs", "afs", "beegfs")


_here: set[str] = set()  # the owners in this process that are at work


@dataclass(frozen=True)
class Owner:
    """A process on a host. `born` tells it from a later one with the same number."""

    id: str
    host: str
    pid: int
    born: str

    @classmethod
    def this(cls) -> "Owner":
        owner = cls(uuid.uuid4().hex, _host(), os.getpid(), _born(os.getpid()))
        _here.add(owner.id)
        return owner

    def gone(self) -> None:
        """Its work is over, though its process may live."""
        _here.discard(self.id)

    @property
    def facts(self) -> tuple[str, str, int, str]:
        return self.id, self.host, self.pid, self.born

    def sees_alive(self, owner: str, host: str, pid: int, born: str) -> bool:
        """Whether an owner is at work, as far as can be seen from here: on another host it counts as being so."""
        if host != self.host:
            return True
        if pid == self.pid:
            return owner in _here
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return _born(pid) == born


def on_network(path: Path) -> bool:
    """Whether the file system of a path is one that several machines may share, as far as the system says."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    except OSError:
        return False
    folder = str(path.absolute().parent.resolve())
    holding = [(place, kind) for _, place, kind, *_ in mounts if f"{folder}/".startswith(f"{place.rstrip('/')}/")]
    return max(holding, key=lambda mount: len(mount[0]))[1].startswith(NETWORKS) if holding else False


def _host() -> str:
    """The machine and, in containers, the space in which process numbers mean something."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}"


def _born(pid: int) -> str:
    """When a process was started, in ticks since boot; empty where the system does not say.

    A zombie, which was killed and whose parent has not looked yet, was never born.
    """
    try:
        state, *facts = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return "" if state in "ZX" else facts[18]
    except (OSError, IndexError):
        return ""
