"""The settings of the App: the environment is read here, once, into what does not change afterwards.

docs/settings.md has the table. What cannot work is refused in a sentence that holds no value.
"""

from __future__ import annotations

import difflib
import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from bot.setting_values import SQLITE, address, database, key, model_names
from checker.agents import DEFAULT_MODEL
from checker.github.address import AddressError, Host
from checker.prices import PRICES, price_of

APP_ID, SLUG = "PAICHECKER_APP_ID", "PAICHECKER_APP_SLUG"
PRIVATE_KEY, WEBHOOK_SECRET = "PAICHECKER_PRIVATE_KEY", "PAICHECKER_WEBHOOK_SECRET"  # names, no secrets
# Of each of these the variable with _FILE behind its name says the file that holds it.
SECRETS = (PRIVATE_KEY, WEBHOOK_SECRET, "DATABASE_URL", "ANTHROPIC_API_KEY")

_CREDENTIALS = frozenset({APP_ID, PRIVATE_KEY, WEBHOOK_SECRET})
_DATA = "PAICHECKER_DATA"


class SettingsError(Exception):
    """The App cannot start like this. The message has one line for each reason, and none of the values."""


class Mode(StrEnum):
    """COMMENT posts what was found; SHADOW records it and posts nothing."""

    COMMENT = "comment"
    SHADOW = "shadow"


class LogLevel(StrEnum):
    """The least that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_Url = Annotated[str, AfterValidator(address)]


class _Common(BaseSettings):
    """What is known with and without credentials. A description completes the sentence “X must be ...”."""

    model_config = SettingsConfigDict(
        frozen=True, case_sensitive=True, hide_input_in_errors=True, validate_default=False
    )

    data: Annotated[Path, Field(validation_alias=_DATA, description="a folder")]
    # The webhook has to be reached from outside; what arrives there is verified.
    host: Annotated[str, Field(validation_alias="PAICHECKER_HOST", pattern=r"^[A-Za-z0-9.:-]+$")] = Field(
        "0.0.0.0",  # noqa: S104
        description="an address of this machine",
    )
    port: Annotated[int, Field(validation_alias="PORT", ge=1, le=65535)] = Field(
        8080, description="a whole number from 1 to 65535"
    )
    given_public_url: Annotated[_Url | None, Field(validation_alias="PAICHECKER_PUBLIC_URL")] = None
    given_database_url: Annotated[
        SecretStr | None, BeforeValidator(database), Field(validation_alias="DATABASE_URL")
    ] = None
    github_server_url: Annotated[str, Field(validation_alias="GITHUB_SERVER_URL")] = ""
    github_api_url: Annotated[str, Field(validation_alias="GITHUB_API_URL")] = ""
    github_graphql_url: Annotated[str, Field(validation_alias="GITHUB_GRAPHQL_URL")] = ""
    anthropic_api_key: Annotated[SecretStr | None, Field(validation_alias="ANTHROPIC_API_KEY")] = None
    anthropic_base_url: Annotated[_Url | None, Field(validation_alias="ANTHROPIC_BASE_URL")] = None
    models: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(model_names), Field(validation_alias="PAICHECKER_MODELS")
    ] = (DEFAULT_MODEL,)
    budget_tokens: Annotated[int, Field(validation_alias="PAICHECKER_BUDGET_TOKENS", gt=0)] = Field(
        200_000, description="a whole number above 0"
    )
    budget_dollars: Annotated[
        float | None, Field(validation_alias="PAICHECKER_BUDGET_DOLLARS", gt=0, allow_inf_nan=False)
    ] = Field(None, description="an amount above 0")
    mode: Annotated[Mode, Field(validation_alias="PAICHECKER_MODE")] = Field(
        Mode.COMMENT, description=" or ".join(Mode)
    )
    log_level: Annotated[LogLevel, Field(validation_alias="PAICHECKER_LOG_LEVEL")] = Field(
        LogLevel.INFO, description=" or ".join(LogLevel)
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *others: object,
        **more: object,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Nothing but what `load` gives."""
        return (init_settings,)

    @cached_property
    def github(self) -> Host:
        """The addresses of the GitHub that is served."""
        return Host.from_environment(
            {
                "GITHUB_SERVER_URL": self.github_server_url,
                "GITHUB_API_URL": self.github_api_url,
                "GITHUB_GRAPHQL_URL": self.github_graphql_url,
            }
        )

    @property
    def public_url(self) -> str:
        """Where GitHub and people reach this server, without a slash at the end."""
        return self.given_public_url or f"http://localhost:{self.port}"

    @property
    def database_url(self) -> SecretStr:
        """`postgresql://...` or `sqlite:///FILE`; without one given, a file in the data folder."""
        return self.given_database_url or SecretStr(f"{SQLITE}{self.data / 'paichecker.sqlite'}")

    @property
    def database_file(self) -> Path | None:
        """The SQLite file; None on PostgreSQL."""
        url = self.database_url.get_secret_value()
        return Path(url.removeprefix(SQLITE)) if url.startswith(SQLITE) else None

    @property
    def credentials_file(self) -> Path:
        """Where the set-up keeps what GitHub gave it."""
        return self.data / "credentials.json"

    @model_validator(mode="after")
    def _check(self) -> Self:
        try:
            self.github  # noqa: B018  built once, here
        except AddressError as error:
            raise ValueError(str(error)) from None
        unpriced = [name for name in self.models if price_of(name, PRICES) is None]
        if self.budget_dollars is not None and unpriced:
            raise ValueError(
                f"PAICHECKER_BUDGET_DOLLARS needs models with a known price, and {', '.join(unpriced)} has none; "
                "set PAICHECKER_BUDGET_TOKENS instead"
            )
        return self


class NotConfigured(_Common):
    """Settings without credentials of an App: enough for the set-up page."""


class Settings(_Common):
    """Everything. `slug` is None where only GitHub knows it (GET /app)."""

    app_id: Annotated[int, Field(validation_alias=APP_ID, gt=0)] = Field(
        description="the App's number, as on its page on GitHub"
    )
    private_key: Annotated[SecretStr, BeforeValidator(key), Field(validation_alias=PRIVATE_KEY)] = Field(
        description="the App's private key: PEM, base64 of it, or a path"
    )
    webhook_secret: Annotated[SecretStr, Field(validation_alias=WEBHOOK_SECRET)] = Field(
        description="the App's webhook secret: deliveries without a signature are never accepted"
    )
    slug: Annotated[str | None, Field(validation_alias=SLUG, pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*$")] = Field(
        None, description="the last part of the address of the App's page"
    )


_Kind = TypeVar("_Kind", NotConfigured, Settings)


def names() -> tuple[str, ...]:
    """Every variable that is read, those for files included."""
    variables = [str(field.validation_alias) for field in Settings.model_fields.values()]
    return (*variables, *(f"{name}_FILE" for name in SECRETS))


def load(
    environment: Mapping[str, str] = os.environ, given: Mapping[str, str] = MappingProxyType({})
) -> Settings | NotConfigured:
    """The settings. What the set-up stored, or has just `given`, is read as well; the environment wins.

    Raises SettingsError.
    """
    environment = {**given, **environment}
    given = {name: value.strip() for name in names() if (value := environment.get(name, "")).strip()}
    given = {_DATA: str(_default_data(environment)), **_with_files(given)}
    common = _read(NotConfigured, given)
    whole = {**_stored(common.credentials_file, given.get(APP_ID)), **given}
    return _read(Settings, whole) if whole.keys() & _CREDENTIALS else common


def unknown(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """A sentence for each variable that looks like a setting and is none: misspelt, it would be passed over."""
    known = names()
    for name in sorted(environment):
        if name.startswith("PAICHECKER_") and name not in known:
            near = difflib.get_close_matches(name, known, 1, cutoff=0.8)
            yield f"{name} is set and is no setting" + (f"; did you mean {near[0]}?" if near else ".")


def _default_data(environment: Mapping[str, str]) -> Path:
    """XDG base directories."""
    base = environment.get("XDG_DATA_HOME")
    return (Path(base) if base else Path(os.path.expanduser("~/.local/share"))) / "paichecker"  # noqa: PTH111


def _with_files(given: dict[str, str]) -> dict[str, str]:
    """With what stands in files, under the names of what they hold."""
    found = dict(given)
    for name in SECRETS:
        path = found.pop(f"{name}_FILE", None)
        if path is None:
            continue
        if name in given:
            raise SettingsError(f"{name} and {name}_FILE are both set; leave one of them out.")
        found[name] = _secret(f"{name}_FILE", path)
    return found


def _secret(name: str, path: str) -> str:
    """A path may be a secret by mistake, so no message repeats it."""
    try:
        secret = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SettingsError(f"{name} names a file that cannot be read ({error.strerror}).") from None
    except ValueError:
        raise SettingsError(f"{name} names a file that is no text.") from None
    if not secret:
        raise SettingsError(f"{name} names an empty file; write the value into it.")
    return secret


def _stored(path: Path, app_id: str | None) -> dict[str, str]:
    """What the set-up stored; nothing where the environment speaks of another App."""
    try:
        stored: Any = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError):
        stored = None
    if not isinstance(stored, dict) or not all(isinstance(value, str) for value in stored.values()):
        raise SettingsError(f"{path} is damaged; mend it, or remove it and set the App up again.")
    is_ours = app_id in (None, stored.get(APP_ID))
    return {name: stored[name] for name in names() if name in stored} if is_ours else {}


def _read(kind: type[_Kind], given: Mapping[str, str]) -> _Kind:
    source = EnvSettingsSource(kind)
    source.env_vars = given
    try:
        return kind(**source())
    except ValidationError as error:
        raise SettingsError("\n".join(_sentences(kind, error))) from None


def _sentences(kind: type[_Common], error: ValidationError) -> Iterator[str]:
    """pydantic's own messages repeat what was given; these do not."""
    must = {str(field.validation_alias): field.description for field in kind.model_fields.values()}
    for item in error.errors(include_url=False, include_input=False):
        name = str(item["loc"][0]) if item["loc"] else ""
        if item["type"] == "value_error":
            yield f"{name} {item['ctx']['error']}.".strip()
        elif item["type"] == "missing":
            yield f"{name} is not set; it must be {must[name]}."
        else:
            yield f"{name} must be {must[name]}."


def takes_files(
    python: tuple[int, ...] = sys.version_info[:2], sqlite: tuple[int, ...] = sqlite3.sqlite_version_info
) -> bool:
    """Whether this Python and this SQLite can have a file as database."""
    return python < (3, 12) or sqlite >= (3, 42)


def prepare(
    settings: Settings | NotConfigured,
    *,
    python: tuple[int, ...] = sys.version_info[:2],
    sqlite: tuple[int, ...] = sqlite3.sqlite_version_info,
) -> None:
    """Makes the folder (mode 0700) and the SQLite file (mode 0600) that will be needed. Raises SettingsError."""
    file = settings.database_file
    if file is not None and not takes_files(python, sqlite):
        raise SettingsError(
            f"Python {_dotted(python)} needs SQLite 3.42 or later for a file as database, and this is SQLite "
            f"{_dotted(sqlite)}; set DATABASE_URL to a PostgreSQL server, or use Python 3.11."
        )
    if isinstance(settings, NotConfigured):
        _make_folder(settings.data)
    if file is not None:
        _make_folder(file.parent)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        file.chmod(0o600)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise SettingsError(
            f"{folder} cannot be written to ({error.strerror}); set {_DATA} to a folder that this user may write to."
        ) from None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
