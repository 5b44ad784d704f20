"""The language model that the signed configuration names."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from astra.adapters.language_models import LanguageModel
from astra.adapters.lent_model import LentModel
from astra.adapters.model_calls import Charge, Meter
from astra.adapters.model_endpoints import ANTHROPIC, Endpoint, endpoint
from astra.adapters.model_streams import Patience
from astra.adapters.smoke_probes import ModelAddress
from astra.adapters.talking_models import TalkingModel
from astra.persona.speech import Talker
from astra.plans.ports import Model, NoModel, Usage
from astra.spend.model import NOBODY, Account
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import authority, contract
from astra.trusted.settings import environment
from astra.trusted.settings.environment import Settings

_NO_MODEL = "no model is configured"
_NO_TALK = f"{_NO_MODEL}, so there is nobody to talk with; everything else works"
_USUAL_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


@dataclass(frozen=True, kw_only=True)
class ConfiguredModel:
    """The model of the signed configuration; a throwaway root also takes the environment's."""

    ledger: Ledger
    settings: Settings
    root: DataRoot
    meter: Meter
    """Counts each call before it is made, and settles it after."""
    role: str = ""
    """What it is asked for: `[model.roles]` may name another model for it."""

    def configured(self) -> bool:
        return bool(self._name_and_url()[0])

    def current(self, account: Account = NOBODY) -> Model:
        return LanguageModel(
            endpoint=self._find_endpoint(),
            patience=self._find_patience(),
            charge=Charge(meter=self.meter, account=account),
        )

    def find_address(self) -> ModelAddress | None:
        """Give where the model is, without its key; None where none is configured."""
        if not self.configured():
            return None
        model_endpoint = self._find_endpoint(_NO_TALK)
        return ModelAddress(name=model_endpoint.name, url=model_endpoint.url)

    def talker(self, account: Account = NOBODY) -> Talker:
        return TalkingModel(
            endpoint=self._find_endpoint(_NO_TALK),
            patience=self._find_patience(),
            charge=Charge(meter=self.meter, account=account),
        )

    def lend(self, account: Account, count: Callable[[Usage], None]) -> LentModel:
        """Lend the model to a program in a box, on somebody's account."""
        model_endpoint = self._find_endpoint("there is none to lend to [coder] command")
        if model_endpoint.provider == ANTHROPIC:
            raise BadSetting(
                "coder.offer_model: Anthropic's protocol is not passed on to a box",
                next_step="give the command a model of its own, with [[egress.secrets]]",
                key="coder.offer_model",
            )
        return LentModel(
            endpoint=model_endpoint,
            charge=Charge(meter=self.meter, account=account),
            patience=self._find_patience(),
            count=count,
        )

    def _find_patience(self) -> Patience:
        model = contract.read_configuration(self.ledger).model
        return Patience(
            silence_seconds=float(model.silence_seconds), call_seconds=float(model.call_seconds)
        )

    def _find_endpoint(self, missing: str = _NO_MODEL) -> Endpoint:
        name, base_url, key_env = self._name_and_url()
        if not name:
            raise NoModel(
                missing,
                next_step="set name (and base_url, key_env) below [model] in astra.toml and run"
                " `astra config sign`",
            )
        variable = key_env or _USUAL_KEYS.get(name.partition(":")[0], "")
        model_endpoint = endpoint(name, base_url, self._find_key(variable))
        if not model_endpoint.key and not base_url:
            raise NoModel(
                f"the model {one_line(name, 80)} needs a key, and {variable} is not set",
                code="no_model_key",
                next_step=f"write {variable}=… into the data root's .env, or set it for the daemon",
            )
        model = contract.read_configuration(self.ledger).model
        default_temperature = 0.2 if model_endpoint.is_compatible else None
        return replace(
            model_endpoint,
            temperature=default_temperature
            if model.temperature is None
            else float(model.temperature),
            output_tokens=model.output_tokens,
            context_tokens=model.context_tokens,
        )

    def _name_and_url(self) -> tuple[str, str, str]:
        model = contract.read_configuration(self.ledger).model
        chosen_model = self.settings.model
        if chosen_model and authority.find_keys(self.ledger).throwaway:
            return chosen_model, self.settings.model_base_url or model.base_url, model.key_env
        own_name = getattr(model.roles, self.role, "") if self.role else ""
        return own_name or model.name, model.base_url, model.key_env

    def _find_key(self, variable: str) -> str:
        """Find the key in the daemon's own environment or the data root's `.env`."""
        dotenv_values = environment.parse_dotenv(self.root.dotenv())
        return os.environ.get(variable) or dotenv_values.get(variable, "")
