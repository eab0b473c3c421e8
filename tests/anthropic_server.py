"""A Messages API on loopback whose every byte a test can script, beside `llmock`, which plays a well-behaved provider.

llmock 0.2 cannot give: cache tokens in `usage`, an `error` event inside a stream, a stream without a single event, a
body that is no stream at all, events of another shape than the API's, answers that depend on the system prompt, the
moment at which an answer was sent whole, and the headers that it received.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Answer:
    """What goes over the wire. `cut`: the connection ends before the length that was announced."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    cut: bool = False


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        """The system prompt."""
        text: str = self.body["system"][0]["text"]
        return text


def stream(*events: Mapping[str, Any]) -> bytes:
    """Events as the Messages API streams them."""
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def begin(**usage: int) -> dict[str, Any]:
    """The event that opens a message."""
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    counts = {"input_tokens": 10, "output_tokens": 1, **usage}
    empty: dict[str, Any] = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": counts}
    return {"type": "message_start", "message": {**head, **empty}}


def text(words: str, index: int = 0) -> list[dict[str, Any]]:
    """The events of one block of text."""
    return [
        {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": words}},
        {"type": "content_block_stop", "index": index},
    ]


def end(stop_reason: str = "end_turn", **usage: int) -> list[dict[str, Any]]:
    """The events that close a message. Counts of tokens are totals, as in the API."""
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5, **usage}}, {"type": "message_stop"}]


def message(words: str, **usage: int) -> Answer:
    """A whole answer of text."""
    return Answer(stream(begin(**usage), *text(words), *end()))


def error(status: int, kind: str, words: str) -> Answer:
    """An error before any stream."""
    body = {"type": "error", "error": {"type": kind, "message": words}}
    return Answer(json.dumps(body).encode(), status, {"content-type": "application/json"})


class MessagesServer:
    """Answers each request by a function of it, in a thread of its own; a context manager.

    `received` are the requests in the order in which they came, `answered` those whose answer was sent whole.
    """

    def __init__(self, answer: Callable[[Received], Answer]) -> None:
        self.received: list[Received] = []
        self.answered: list[Received] = []
        self._server = _Server(("127.0.0.1", 0), _handler(self, answer))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @classmethod
    def scripted(cls, *answers: Answer) -> Self:
        """The answers one after another; the last one repeats."""
        left = list(answers)
        return cls(lambda _: left.pop(0) if len(left) > 1 else left[0])

    @property
    def url(self) -> str:
        """For `ANTHROPIC_BASE_URL`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no error of the server's."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _handler(server: MessagesServer, answer: Callable[[Received], Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received = Received(self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(body))
            server.received.append(received)
            _send(self, answer(received))
            server.answered.append(received)

        def log_message(self, *_: object) -> None:
            """Nothing: a test's output is its own."""

    return Handler


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    handler.send_response(answer.status)
    for name, value in answer.headers.items():
        handler.send_header(name, value)
    handler.send_header("content-length", str(len(answer.body) + (100 if answer.cut else 0)))
    handler.end_headers()
    handler.wfile.write(answer.body)
