"""What the App reads of its environment, and what it refuses in a sentence that repeats no value."""

from __future__ import annotations

import base64
import json
import re
import stat
import traceback
from collections.abc import Mapping
from pathlib import Path

import pytest
from app_keys import elliptic_key, locked_key, rsa_pair
from pydantic import ValidationError

from bot.settings import LogLevel, Mode, NotConfigured, Settings, SettingsError, load, names, prepare, unknown
from checker.github.address import Host

KEY = rsa_pair()[0]
BASE64 = base64.b64encode(KEY.encode()).decode()
HOLDS = "hunter2-that-nobody-may-see"
TABLE = (Path(__file__).parent.parent / "docs" / "settings.md").read_text(encoding="utf-8")


def environment(**more: str) -> dict[str, str]:
    """An App that is set up."""
    return {
        "PAICHECKER_APP_ID": "12345",
        "PAICHECKER_PRIVATE_KEY": KEY,
        "PAICHECKER_WEBHOOK_SECRET": "s3cret",
        "HOME": "/home/nobody",
        **more,
    }


def settings(given: Mapping[str, str]) -> Settings:
    found = load(given)
    assert isinstance(found, Settings)
    return found


def refused(given: Mapping[str, str]) -> str:
    with pytest.raises(SettingsError) as found:
        load(given)
    return str(found.value)


def stored(folder: Path, **more: str) -> Path:
    """What the set-up leaves behind."""
    lines = {"PAICHECKER_APP_ID": "777", "PAICHECKER_PRIVATE_KEY": BASE64, "PAICHECKER_WEBHOOK_SECRET": "kept", **more}
    (folder / "credentials.json").write_text(json.dumps(lines), encoding="utf-8")
    return folder


# What is there without anything, and with credentials alone


def test_an_empty_environment_is_enough_for_the_set_up() -> None:
    found = load({})
    assert isinstance(found, NotConfigured)
    assert (found.host, found.port, found.public_url) == ("0.0.0.0", 8080, "http://localhost:8080")
    assert found.github == Host()
    assert (found.mode, found.log_level) == (Mode.COMMENT, LogLevel.INFO)
    assert (found.budget_tokens, found.budget_dollars, found.anthropic_api_key) == (200_000, None, None)


def test_credentials_alone_make_the_settings_whole() -> None:
    found = settings(environment())
    assert (found.app_id, found.slug) == (12345, None)
    assert found.private_key.get_secret_value() == KEY
    assert found.webhook_secret.get_secret_value() == "s3cret"


def test_every_setting_is_read() -> None:
    found = settings(
        environment(
            PAICHECKER_APP_SLUG="paichecker-acme",
            PAICHECKER_DATA="/data",
            PAICHECKER_HOST="127.0.0.1",
            PORT="5000",
            PAICHECKER_PUBLIC_URL="https://bot.acme.dev/",
            DATABASE_URL="postgres://me:pw@db/app",
            GITHUB_SERVER_URL="https://github.acme.dev",
            ANTHROPIC_API_KEY="sk-1",
            ANTHROPIC_BASE_URL="http://models:8000/",
            PAICHECKER_MODELS="claude-opus-5-5, claude-haiku-5-5,claude-opus-5-5",
            PAICHECKER_BUDGET_TOKENS="1000",
            PAICHECKER_BUDGET_DOLLARS="0.25",
            PAICHECKER_MODE="shadow",
            PAICHECKER_LOG_LEVEL="debug",
        )
    )
    assert (found.slug, found.data, found.host, found.port) == ("paichecker-acme", Path("/data"), "127.0.0.1", 5000)
    assert found.public_url == "https://bot.acme.dev"
    assert found.database_url.get_secret_value() == "postgresql://me:pw@db/app"
    assert found.database_file is None
    assert found.github.rest == "https://github.acme.dev/api/v3"
    assert found.anthropic_api_key is not None
    assert found.anthropic_api_key.get_secret_value() == "sk-1"
    assert found.anthropic_base_url == "http://models:8000"
    assert found.models == ("claude-opus-5-5", "claude-haiku-5-5")
    assert (found.budget_tokens, found.budget_dollars) == (1000, 0.25)
    assert (found.mode, found.log_level) == (Mode.SHADOW, LogLevel.DEBUG)


def test_settings_do_not_change_and_the_real_environment_does_not_shine_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PORT", "1")
    monkeypatch.setenv("PAICHECKER_APP_SLUG", "another")
    found = settings(environment())
    assert (found.port, found.slug) == (8080, None)
    with pytest.raises(ValidationError, match="frozen"):
        found.port = 2  # type: ignore[misc]


def test_a_blank_value_counts_as_none() -> None:
    assert isinstance(load({"PAICHECKER_APP_ID": "  ", "PAICHECKER_PRIVATE_KEY": "", "PORT": " "}), NotConfigured)


@pytest.mark.parametrize(
    ("given", "data"),
    [({"XDG_DATA_HOME": "/xdg"}, "/xdg/paichecker"), ({"PAICHECKER_DATA": "/data"}, "/data")],
)
def test_the_database_is_a_file_in_the_data_folder_unless_one_is_named(given: dict[str, str], data: str) -> None:
    found = load(given)
    assert found.data == Path(data)
    assert found.database_url.get_secret_value() == f"sqlite:///{data}/paichecker.sqlite"
    assert found.database_file == Path(data, "paichecker.sqlite")
    assert load({**given, "DATABASE_URL": "sqlite:////elsewhere/app.sqlite"}).database_file == Path(
        "/elsewhere/app.sqlite"
    )


# The private key, and secrets in files


def test_the_key_is_taken_as_pem_in_one_line_as_base64_and_as_a_path(tmp_path: Path) -> None:
    file = tmp_path / "app.pem"
    file.write_text(KEY, encoding="utf-8")
    wrapped = "\n".join(re.findall(".{1,76}", BASE64))
    for form in (KEY.strip(), KEY.replace("\n", "\\n"), BASE64, wrapped, str(file)):
        found = settings(environment(PAICHECKER_PRIVATE_KEY=form))
        assert found.private_key.get_secret_value() == KEY


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (HOLDS, "is neither a key in PEM, nor base64 of one, nor a file that can be read"),
        ("/" + "a" * 5000, "is neither a key"),
        ("a\0b", "is neither a key"),
        (KEY[:300], "is no private key that can be read"),
        (rsa_pair()[1], "is no private key that can be read"),
        (locked_key(), "is locked with a password"),
        (elliptic_key(), "is no RSA key"),
    ],
)
def test_what_is_no_rsa_private_key_is_refused(key: str, says: str) -> None:
    told = refused(environment(PAICHECKER_PRIVATE_KEY=key))
    assert told.startswith(f"PAICHECKER_PRIVATE_KEY {says}")
    assert key[:40] not in told
    assert told.count("\n") == 0


def test_every_secret_may_stand_in_a_file(tmp_path: Path) -> None:
    given = {"PAICHECKER_APP_ID": "1"}
    values = {
        "PAICHECKER_PRIVATE_KEY": KEY,
        "PAICHECKER_WEBHOOK_SECRET": "from-a-file",
        "DATABASE_URL": "postgresql://me:pw@db/app",
        "ANTHROPIC_API_KEY": "sk-2",
    }
    for name, value in values.items():
        (tmp_path / name).write_text(f"{value}\n", encoding="utf-8")
        given[f"{name}_FILE"] = str(tmp_path / name)
    found = settings(given)
    assert found.private_key.get_secret_value() == KEY
    assert found.webhook_secret.get_secret_value() == "from-a-file"
    assert found.database_url.get_secret_value() == "postgresql://me:pw@db/app"
    assert found.anthropic_api_key is not None
    assert found.anthropic_api_key.get_secret_value() == "sk-2"


def test_a_secrets_file_that_cannot_serve_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text(" \n", encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    name = "PAICHECKER_WEBHOOK_SECRET_FILE"
    assert (
        refused({name: str(tmp_path / HOLDS)})
        == f"{name} names a file that cannot be read (No such file or directory)."
    )
    assert refused({name: str(tmp_path / "empty")}) == f"{name} names an empty file; write the value into it."
    assert refused({name: str(tmp_path / "binary")}) == f"{name} names a file that is no text."
    assert "are both set" in refused(environment(**{name: str(tmp_path / "empty")}))


# What is refused


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PAICHECKER_APP_ID", HOLDS, "must be the App's number, as on its page on GitHub."),
        ("PAICHECKER_APP_ID", "-1", "must be the App's number, as on its page on GitHub."),
        ("PAICHECKER_APP_SLUG", f"{HOLDS}!", "must be the last part of the address of the App's page."),
        ("PAICHECKER_HOST", f"http://{HOLDS}", "must be an address of this machine."),
        ("PORT", HOLDS, "must be a whole number from 1 to 65535."),
        ("PORT", "65536", "must be a whole number from 1 to 65535."),
        ("PAICHECKER_PUBLIC_URL", f"ftp://{HOLDS}", "must be written as https://bot.example.com, without"),
        ("PAICHECKER_PUBLIC_URL", f"https://me:{HOLDS}@bot.dev", "must be written as https://bot.example.com, without"),
        ("DATABASE_URL", f"mysql://me:{HOLDS}@db/app", "must begin with postgresql:// or be sqlite:///FILE."),
        ("DATABASE_URL", "sqlite://", "must begin with postgresql:// or be sqlite:///FILE."),
        ("DATABASE_URL", "sqlite:///:memory:", "must begin with postgresql:// or be sqlite:///FILE."),
        ("DATABASE_URL", f"postgresql://me:{HOLDS}/x@db:port/app", "cannot be taken apart; in a password write %40"),
        ("GITHUB_SERVER_URL", f"https://me:{HOLDS}@github.dev", "is no server's address"),
        ("ANTHROPIC_BASE_URL", HOLDS, "must be written as https://"),
        ("PAICHECKER_MODELS", f"{HOLDS} and more", "must be names of models with commas between them."),
        ("PAICHECKER_MODELS", ",", "must be names of models with commas between them."),
        ("PAICHECKER_BUDGET_TOKENS", "0", "must be a whole number above 0."),
        ("PAICHECKER_BUDGET_TOKENS", HOLDS, "must be a whole number above 0."),
        ("PAICHECKER_BUDGET_DOLLARS", "inf", "must be an amount above 0."),
        ("PAICHECKER_MODE", HOLDS, "must be comment or shadow."),
        ("PAICHECKER_LOG_LEVEL", HOLDS, "must be debug or info or warning or error."),
    ],
)
def test_what_cannot_work_is_refused_without_repeating_it(name: str, value: str, says: str) -> None:
    with pytest.raises(SettingsError) as found:
        load(environment(**{name: value}))
    told = str(found.value)
    assert told.startswith(f"{name} {says}")
    assert told.count("\n") == 0
    shown = "".join(traceback.format_exception(found.value))
    assert HOLDS not in shown
    assert KEY[40:80] not in shown


def test_a_webhook_secret_is_never_optional() -> None:
    given = environment()
    del given["PAICHECKER_WEBHOOK_SECRET"]
    assert refused(given) == (
        "PAICHECKER_WEBHOOK_SECRET is not set; it must be the App's webhook secret: deliveries without a signature "
        "are never accepted."
    )


def test_all_that_is_wrong_is_told_at_once_one_line_each() -> None:
    told = refused({"PAICHECKER_APP_ID": "x"}).splitlines()
    assert [line.split()[0] for line in told] == [
        "PAICHECKER_APP_ID",
        "PAICHECKER_PRIVATE_KEY",
        "PAICHECKER_WEBHOOK_SECRET",
    ]


def test_a_budget_in_dollars_needs_prices() -> None:
    given = environment(PAICHECKER_BUDGET_DOLLARS="1", PAICHECKER_MODELS="claude-opus-5-5,our-own")
    assert refused(given).startswith("PAICHECKER_BUDGET_DOLLARS needs models with a known price, and our-own has none")


def test_no_secret_is_in_a_representation() -> None:
    database = f"postgresql://me:{HOLDS}@db/app"
    found = settings(environment(PAICHECKER_WEBHOOK_SECRET=HOLDS, ANTHROPIC_API_KEY=HOLDS, DATABASE_URL=database))
    for shown in (repr(found), str(found), found.model_dump_json(), repr(found.database_url)):
        assert HOLDS not in shown
        assert KEY[40:80] not in shown


# What the set-up stored


def test_stored_credentials_are_read(tmp_path: Path) -> None:
    found = settings({"PAICHECKER_DATA": str(stored(tmp_path, PAICHECKER_APP_SLUG="mine"))})
    assert (found.app_id, found.slug) == (777, "mine")
    assert found.webhook_secret.get_secret_value() == "kept"
    assert found.private_key.get_secret_value() == KEY


def test_the_environment_wins_over_what_is_stored(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("newer", encoding="utf-8")
    given = {"PAICHECKER_DATA": str(stored(tmp_path)), "PAICHECKER_WEBHOOK_SECRET_FILE": str(secret)}
    assert settings(given).webhook_secret.get_secret_value() == "newer"


def test_the_stored_key_is_not_used_for_another_app(tmp_path: Path) -> None:
    told = refused({"PAICHECKER_DATA": str(stored(tmp_path)), "PAICHECKER_APP_ID": "778"})
    assert "PAICHECKER_PRIVATE_KEY is not set" in told
    assert "PAICHECKER_WEBHOOK_SECRET is not set" in told


@pytest.mark.parametrize("text", ["", "{", "[]", '{"PAICHECKER_APP_ID": 7}', "[" * 100_000, "\ud800"])
def test_a_damaged_file_of_credentials_is_no_reason_to_set_up_again_unasked(tmp_path: Path, text: str) -> None:
    (tmp_path / "credentials.json").write_bytes(text.encode(errors="surrogatepass"))
    assert "is damaged; mend it, or remove it" in refused({"PAICHECKER_DATA": str(tmp_path)})


# The machine


def modes(folder: Path) -> tuple[int, int]:
    return stat.S_IMODE(folder.stat().st_mode), stat.S_IMODE((folder / "paichecker.sqlite").stat().st_mode)


def test_the_data_folder_and_the_database_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "data"
    prepare(load({"PAICHECKER_DATA": str(folder)}))
    assert modes(folder) == (0o700, 0o600)
    (folder / "paichecker.sqlite").write_bytes(b"rows")
    (folder / "paichecker.sqlite").chmod(0o644)
    prepare(load({"PAICHECKER_DATA": str(folder)}))
    assert modes(folder) == (0o700, 0o600)
    assert (folder / "paichecker.sqlite").read_bytes() == b"rows"
    assert [path.name for path in folder.iterdir()] == ["paichecker.sqlite"]


def test_a_data_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"file/data cannot be written to \(Not a directory\); set PAICHECKER_DATA"):
        prepare(load({"PAICHECKER_DATA": str(tmp_path / "file" / "data")}))


def test_on_postgresql_with_credentials_nothing_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    prepare(
        load(environment(PAICHECKER_DATA=str(folder), DATABASE_URL="postgresql://db/app")),
        python=(3, 13),
        sqlite=(3, 40),
    )
    assert not folder.exists()
    prepare(load({"PAICHECKER_DATA": str(folder), "DATABASE_URL": "postgresql://db/app"}))
    assert folder.is_dir()


@pytest.mark.parametrize(("python", "sqlite"), [((3, 11), (3, 40, 1)), ((3, 12), (3, 42, 0)), ((3, 13), (3, 45, 1))])
def test_versions_that_work_together_are_taken(
    tmp_path: Path, python: tuple[int, ...], sqlite: tuple[int, ...]
) -> None:
    prepare(load({"PAICHECKER_DATA": str(tmp_path)}), python=python, sqlite=sqlite)


def test_a_python_that_is_too_new_for_its_sqlite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"Python 3\.12 needs SQLite 3\.42 or later .* this is SQLite 3\.40\.1; set DAT"
    ):
        prepare(load({"PAICHECKER_DATA": str(tmp_path)}), python=(3, 12), sqlite=(3, 40, 1))


# The documentation


def test_every_setting_is_in_the_documented_table_and_nothing_else_is() -> None:
    documented = re.findall(r"^\| (.+?) \|", TABLE, re.MULTILINE)
    assert sorted(re.findall(r"`([A-Z_]+)`", " ".join(documented))) == sorted(names())


def test_the_documented_defaults_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^\| `([A-Z_]+)`.*? \| (.*?) \|", TABLE, re.MULTILINE))
    found = load({"PAICHECKER_DATA": "DATA"})
    assert rows["PORT"] == f"`{found.port}`"
    assert rows["PAICHECKER_HOST"] == f"`{found.host}`"
    assert rows["PAICHECKER_MODELS"] == f"`{found.models[0]}`"
    assert rows["PAICHECKER_BUDGET_TOKENS"] == f"`{found.budget_tokens}`"
    assert rows["PAICHECKER_MODE"] == f"`{found.mode}`"
    assert rows["PAICHECKER_LOG_LEVEL"] == f"`{found.log_level}`"


def test_a_name_that_looks_like_a_setting_and_is_none_is_told() -> None:
    told = list(unknown({"PAICHECKER_MOD": "shadow", "PAICHECKER_ZZZ": "hush", "PAICHECKER_MODE": "shadow"}))
    assert told == [
        "PAICHECKER_MOD is set and is no setting; did you mean PAICHECKER_MODE?",
        "PAICHECKER_ZZZ is set and is no setting.",
    ]
