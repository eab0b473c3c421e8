"""A model that takes its time: an Anthropic endpoint on loopback that finds scope creep in every pull request.

Its answers run through all three phases (three analyzers at once, coordinator, code validator), the dearest course.
`GET /seen` tells how many requests came, how many of them had come before, how many were answered at once at most, and
the seconds from the first request to the last answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import multiprocessing
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from aiohttp import web

from checker import prompting
from checker.taxonomy import Role

_TITLE = re.compile(r'name="pr/title"[^>]*>\n(.+)\n')
_NO = {"why": "Nothing of the kind is said.", "holds": False, "confidence": "high", "quotes": [], "repair": ""}


@contextmanager
def slow_model(seconds: float) -> Iterator[str]:
    """The address of a server, in a process of its own, that takes `seconds` for each answer."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(seconds, theirs), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()


def _serve(seconds: float, told: Connection) -> None:
    seen: Counter[bytes] = Counter()
    now = Counter[str]()
    times: list[float] = []

    async def messages(request: web.Request) -> web.Response:
        try:
            data = await request.read()
        except ConnectionError:  # the audit was killed while it asked
            return web.Response()
        times.append(time.monotonic())
        seen[hashlib.sha256(data).digest()] += 1
        now["busy"] += 1
        now["most"] = max(now["most"], now["busy"])
        try:
            body = json.loads(data)
            await asyncio.sleep(seconds)
            return web.Response(body=_stream(json.dumps(_answer(body))), content_type="text/event-stream")
        finally:
            now["busy"] -= 1
            times[1:] = [time.monotonic()]

    async def told_so_far(_: web.Request) -> web.Response:
        total = sum(seen.values())
        span = times[-1] - times[0] if times else 0.0
        told = {"requests": total, "again": total - len(seen), "most": now["most"], "seconds": span}
        return web.json_response(told)

    async def run() -> None:
        app = web.Application(client_max_size=100_000_000)
        app.add_routes([web.post("/v1/messages", messages), web.get("/seen", told_so_far)])
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        told.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


def _answer(body: dict[str, Any]) -> dict[str, Any]:
    first = body["system"][0]["text"].splitlines()[0]
    role = next(role for role in Role if prompting.load(role).system.splitlines()[0] == first)
    if role in (Role.COORDINATOR, Role.CODE_VALIDATOR):
        where = {"lines": []} if role is Role.CODE_VALIDATOR else {}
        kept = {"label": "SC", "why": "The title says so.", "keep": True, **where}
        return {"decisions": [kept]} | ({"others": None} if role is Role.COORDINATOR else {})
    shown = body["messages"][0]["content"][0]["text"]
    names = body["output_config"]["format"]["schema"]["properties"].keys() - {"signals", "clues"}
    return {"signals": [], "clues": [], **{name: _pattern(name, shown) for name in names}}


def _pattern(name: str, shown: str) -> dict[str, Any]:
    title = _TITLE.search(shown)
    if name != "scope_creep" or title is None:
        return {**_NO, "scenario": None}
    quotes = [{"source": "pr/title", "text": title[1]}]
    return {**_NO, "holds": True, "quotes": quotes, "repair": "Split it.", "scenario": "SC-2"}


def _stream(words: str) -> bytes:
    usage = {"input_tokens": 5_000, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    ended = {"stop_reason": None, "stop_sequence": None}
    events = [
        {"type": "message_start", "message": {**head, **ended, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": words}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {**ended, "stop_reason": "end_turn"}, "usage": {"output_tokens": 200}},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)
