"""From a command's addresses to pairs: whose token is used, and what is said where one cannot be read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # typeshed lacks it

from checker.datasets.files import InputProblem
from checker.github.address import Address, AddressError, Host, parse_address
from checker.github.client import Client, GitHubError
from checker.github.collect import Moment, collect
from checker.pair import Pair

_TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")
_TOKEN = re.compile(r"[!-~]+")
_PROXY = re.compile(r"https?://(?:[^\s/?#@]*@)?(?:\[[0-9a-fA-F:.]+\]|[^\s/?#@:\[\]]+)(?::\d{1,5})?/?")
AT_ONCE = 4


class TokenError(ValueError):
    """What stands where a token was expected is none. The message says where, and never what."""


@dataclass(frozen=True)
class Access:
    """A GitHub, the token to read it with (its GraphQL answers nobody without one), and the proxy before it."""

    host: Host
    token: str | None = field(repr=False)
    proxy: str | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], token_file: Path | None = None) -> Access:
        """The token of a file, else of GITHUB_TOKEN or GH_TOKEN. Raises TokenError, AddressError.

        The proxy is that of HTTPS_PROXY and NO_PROXY, as curl reads them (everything.curl.dev, "Proxy environment
        variables").
        """
        if token_file:
            where, token = f"--token-file {token_file}", _content(token_file)
        else:
            where = next(filter(environment.get, _TOKENS), "")
            token = environment.get(where, "").strip()
        if (where or token) and not _TOKEN.fullmatch(token):
            raise TokenError(f"{where}: it holds no token; a token is one word of letters, digits and signs")
        host = Host.from_environment(environment)
        return cls(host, token or None, _proxy(environment, host))


def _proxy(environment: Mapping[str, str], host: Host) -> str | None:
    server = urlsplit(host.rest)
    wanted, excepted = (_either(environment, f"{name}_proxy") for name in (server.scheme, "no"))
    if not wanted or proxy_bypass_environment(server.hostname or "", {"no": excepted}):
        return None
    proxy = wanted if "://" in wanted else f"http://{wanted}"
    if not _PROXY.fullmatch(proxy):
        # It may hold a password, so the message does not repeat it.
        raise AddressError(f"{server.scheme.upper()}_PROXY is no proxy's address; write it as in http://proxy:3128")
    return proxy


def _either(environment: Mapping[str, str], name: str) -> str:
    return (environment.get(name) or environment.get(name.upper()) or "").strip()


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise TokenError(f"--token-file {path}: it cannot be read ({reason})") from None


async def read_addresses(client: Client, texts: Sequence[str], as_of: Moment) -> list[Pair | InputProblem]:
    """A pair for each address, or why there is none, in their order; what is named twice is read once."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(text: str, address: Address | InputProblem) -> Pair | InputProblem:
        if isinstance(address, InputProblem):
            return address
        async with gate:
            return await _read(client, text, address, as_of)

    named: dict[Address | InputProblem, str] = {}
    for text in texts:
        named.setdefault(_address(text, client.host), text)
    return list(await asyncio.gather(*(one(text, address) for address, text in named.items())))


async def read_each(client: Client, texts: Sequence[str], as_of: Moment) -> AsyncIterator[Pair | InputProblem]:
    """The same, each as soon as it is read."""
    for begin in range(0, len(texts), AT_ONCE):
        for one in await read_addresses(client, texts[begin : begin + AT_ONCE], as_of):
            yield one


def _address(text: str, host: Host) -> Address | InputProblem:
    try:
        return parse_address(text, host)
    except AddressError as error:
        return InputProblem("address", str(error))


async def _read(client: Client, text: str, address: Address, as_of: Moment) -> Pair | InputProblem:
    try:
        return await collect(client, address, as_of=as_of)
    except GitHubError as error:
        return InputProblem(text, str(error))
