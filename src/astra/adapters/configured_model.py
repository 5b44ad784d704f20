"""The language model that the signed configuration names."""

import os
from dataclasses import dataclass

from astra.adapters.language_models import Endpoint, LanguageModel, endpoint
from astra.adapters.talking_models import TalkingModel
from astra.persona.speech import Talker
from astra.plans.ports import Model, NoModel
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import authority, contract
from astra.trusted.settings import environment
from astra.trusted.settings.environment import Settings

_NO_DRAFT = "nothing can be drafted from a description"
_GIVE_THE_PLAN = "; or give the plan itself: astra plans draft --file plan.json"
_NO_TALK = "there is nobody to talk with; everything else works"
_USUAL_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


@dataclass(frozen=True, kw_only=True)
class ConfiguredModel:
    """The model of the signed configuration; a throwaway root also takes the environment's."""

    ledger: Ledger
    settings: Settings
    root: DataRoot

    def configured(self) -> bool:
        return bool(self._name_and_url()[0])

    def current(self) -> Model:
        return LanguageModel(endpoint=self._endpoint(_NO_DRAFT, _GIVE_THE_PLAN))

    def talker(self) -> Talker:
        return TalkingModel(endpoint=self._endpoint(_NO_TALK))

    def _endpoint(self, without: str, instead: str = "") -> Endpoint:
        name, base_url, key_env = self._name_and_url()
        if not name:
            raise NoModel(
                f"no model is configured, so {without}",
                next_step="set name (and base_url, key_env) below [model] in astra.toml and run"
                f" `astra config sign`{instead}",
            )
        variable = key_env or _USUAL_KEYS.get(name.partition(":")[0], "")
        where = endpoint(name, base_url, self._key(variable))
        if not where.key and not base_url:
            raise NoModel(
                f"the model {one_line(name, 80)} needs a key, and {variable} is not set",
                code="no_model_key",
                next_step=f"write {variable}=… into the data root's .env, or set it for the daemon",
            )
        return where

    def _name_and_url(self) -> tuple[str, str, str]:
        model = contract.in_force(self.ledger).model
        given = self.settings.model
        if given and authority.keys(self.ledger).throwaway:
            return given, self.settings.model_base_url or model.base_url, model.key_env
        return model.name, model.base_url, model.key_env

    def _key(self, variable: str) -> str:
        """Find the key in the daemon's own environment or the data root's `.env`."""
        kept = environment.parse_dotenv(self.root.dotenv())
        return os.environ.get(variable) or kept.get(variable, "")
