"""A target with an upstream: real git on both ends, the rest in memory."""

from dataclasses import dataclass, field
from typing import Any

from astra.trusted.git.upstream_repo import GitUpstream
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.settings.git_address import read_git_address
from astra.trusted.upstream import sync
from astra.trusted.upstream.sync import Sync
from changing import IDENTITY, ChangesHere, git


@dataclass
class UpstreamHere:
    """A person's repository, from which the trusted one was made."""

    here: ChangesHere
    address: str = ""
    after: list[Any] = field(default_factory=list)
    token: str = ""

    def __post_init__(self) -> None:
        self.work = self.here.folder / "git.work"
        self.address = self.address or str(self.work)
        self.repo = GitUpstream(
            trusted=self.here.git_dir,
            folder=self.here.folder / "upstream",
            branch="main",
            identity=self.here.repo.identity,
            clock=self.here.root.clock,
            ssh_key=self.here.folder / "keys" / "push.key",
            read_address=lambda: read_git_address(self.address, key="target.upstream"),
            read_token=lambda: self.token,
        )
        self.sync = Sync(
            bench=self.here.bench,
            upstream=self.repo,
            stopped=lambda: self.here.stopped,
            secrets=SecretRules,
            after=self.after,
        )
        self.here.desk.conditions[sync.KIND] = self.sync.check_terms

    def commit(self, path: str, content: bytes, *, author: str = "Ada <ada@example.org>") -> str:
        """Commit a file upstream, as a person does."""
        place = self.work / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        return self.commit_all(f"write {path}", author=author)

    def commit_all(self, subject: str, *, author: str = "Ada <ada@example.org>") -> str:
        git(self.work, "add", "-A", "-f")
        git(self.work, *IDENTITY, "commit", "-qm", subject, f"--author={author}")
        return git(self.work, "rev-parse", "HEAD")

    def look(self) -> dict[str, Any]:
        return self.sync.look()

    def sign(self, approval: str, **terms: Any) -> None:
        self.here.grant(approval, **terms)
        self.sync.execute(approval)

    def close(self) -> None:
        self.repo.close()
