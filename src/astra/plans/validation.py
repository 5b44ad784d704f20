"""What the server refuses in a plan, whoever wrote it, before a person spends a minute on it.

Unknown skills and those that would start more plans; grants that are too broad or touch what no
grant may; paths that leave the target unsaid; checkpoints that could never be done. The result is
the plan with one spelling for each grant: that is what is hashed and signed.

Relative paths speak of the target, absolute ones of the machine. Writing outside the target and the
agent's own folders takes the same path among the `read_paths`, so that a reader sees it twice.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from astra.plans.schema import Checkpoint, Permissions, Plan
from astra.plans.skills import GROUPS, SkillBook, check_skills
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy import domains, manifest, payload
from astra.trusted.policy.grants import GrantKind, GrantPlaces, check_grant
from astra.trusted.policy.manifest import BadManifest

LARGEST_PLAN = 256 * 1024
_KINDS = {"read_paths": GrantKind.READ_PATHS, "write_paths": GrantKind.WRITE_PATHS}


class PlanRefused(Refused):
    code = "plan_refused"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a plan is judged against: the skills there are, and the places no grant may touch."""

    skills: SkillBook
    places: GrantPlaces
    own_folders: tuple[str, ...] = ()
    """The agent's own folders, absolute: its clone of the target, its sandbox, its notes."""

    def check(self, plan: Plan) -> Plan:
        """Give the plan in its one spelling, or refuse it with the first reason."""
        payload.refuse_unshowable(plan.as_dict(), largest=LARGEST_PLAN)
        permissions = self.check_permissions(plan.manifest)
        self._refuse_unsaid_places(permissions)
        checkpoints = tuple(self._check_checkpoint(checkpoint) for checkpoint in plan.checkpoints)
        _refuse_unreachable(checkpoints, permissions)
        return replace(plan, manifest=permissions, checkpoints=checkpoints)

    def check_permissions(self, wanted: Permissions) -> Permissions:
        return Permissions(
            network_domains=self.spell_grants("network_domains", wanted.network_domains),
            read_paths=self.spell_grants("read_paths", wanted.read_paths),
            write_paths=self.spell_grants("write_paths", wanted.write_paths),
            skills=self.spell_grants("skills", wanted.skills),
            destructive_ops=check_skills(wanted.destructive_ops, self.skills),
        )

    def spell_grants(self, kind: str, values: Iterable[str]) -> tuple[str, ...]:
        """Give each grant of a kind in its one spelling, or refuse the first bad one."""
        if kind == "network_domains":
            spellings = [str(domains.parse_grant(value)) for value in values]
        elif kind in _KINDS:
            spellings = [self._spell_path(kind, value) for value in values]
        elif kind == "skills":
            return check_skills(values, self.skills)
        else:
            raise PlanRefused(
                f"{kind!r} is no kind of grant",
                code="bad_grant_kind",
                next_step="one of: network_domains, read_paths, write_paths, skills",
            )
        return tuple(dict.fromkeys(spellings))

    def _spell_path(self, kind: str, value: str) -> str:
        grant = check_grant(_KINDS[kind], value, places=self.places)
        if grant.text.startswith("/"):
            literal = grant.glob.folder if grant.glob else grant.text
            self._refuse_in_box(literal, grant.text)
        return grant.text

    def _refuse_in_box(self, literal: str, text: str) -> None:
        """Refuse now what the sandbox would refuse later, when nobody is there to read it."""
        try:
            manifest.check(
                manifest.Manifest(read_paths=(literal,)),
                protected=tuple(self.places.protected.hidden),
                homes=(self.places.home,),
            )
        except BadManifest as error:
            raise PlanRefused(
                f"{text!r} cannot be granted: {error.detail}",
                code="grant_too_broad",
                next_step=error.next_step,
            ) from None

    def _refuse_unsaid_places(self, wanted: Permissions) -> None:
        for path in wanted.write_paths:
            if not path.startswith("/") or self._is_own(path) or path in wanted.read_paths:
                continue
            raise PlanRefused(
                f"{path!r} lies outside the target and the agent's folders",
                code="path_outside_target",
                next_step=f"name {path} among the read_paths too, or stay inside the target",
            )

    def _is_own(self, path: str) -> bool:
        return any(manifest.is_within(path, folder) for folder in self.own_folders)

    def _check_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        return replace(
            checkpoint, skills_needed=check_skills(checkpoint.skills_needed, self.skills)
        )


def _refuse_unreachable(checkpoints: tuple[Checkpoint, ...], granted: Permissions) -> None:
    """Refuse a stage that needs what the manifest does not give, or that cannot be told apart."""
    checkpoint_ids: set[str] = set()
    granted_skills = {*granted.skills, *(t for s in granted.skills for t in GROUPS.get(s, ()))}
    for checkpoint in checkpoints:
        missing_skills = [
            skill for skill in checkpoint.skills_needed if not _is_granted(skill, granted_skills)
        ]
        if missing_skills or checkpoint.id in checkpoint_ids:
            why = f"needs {', '.join(missing_skills)}" if missing_skills else "is there twice"
            raise PlanRefused(
                f"the checkpoint {checkpoint.title[:80]!r} can never be reached: it {why}",
                code="unreachable_checkpoint",
                next_step="add the skill to the manifest's skills"
                if missing_skills
                else "leave one of them out",
            )
        checkpoint_ids.add(checkpoint.id)


def _is_granted(skill: str, given: set[str]) -> bool:
    return skill in given or set(GROUPS.get(skill, (skill,))) <= given
