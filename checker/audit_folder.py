"""The folder of an audit: what it was asked to do, its results, failures and spendings, safe against any stop.

`audit.json` holds the settings, `results.jsonl` one line a pair, `failures.jsonl` the pairs whose check gave no whole
answer, `spending.jsonl` every attempt that may have been billed, `replies/` the finished replies of models,
`unreadable.jsonl` the records of the source that are no pairs, each with its place and what is wrong.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from checker.datasets.problem import InputProblem
from checker.model import CannotKeep

SETTINGS, RESULTS, FAILURES, SPENDING, PARQUET = (
    "audit.json",
    "results.jsonl",
    "failures.jsonl",
    "spending.jsonl",
    "results.parquet",
)
REPLIES = "replies"
UNREADABLE = "unreadable.jsonl"
_BEFORE_SETTINGS = {RESULTS, FAILURES, SPENDING, REPLIES, f"{SETTINGS}.part"}
_SAID = {
    "source": "on {}",
    "backend": "with {} as the judge",
    "without": "with --without {}",
    "pairs": "on {} pairs",
    "version": "by PAIChecker {}",
}
_NONE_SAID = {
    "without": "with the whole method",
    "pairs": "without a number of pairs",
    "backbones": "without a description of its backbones",
}
_FIELDS: Mapping[str, Mapping[str, type]] = {
    RESULTS: {
        **dict.fromkeys(("id", "verdict", "action", "backend"), str),
        **dict.fromkeys(("labels", "findings", "unread", "partial"), list),
    },
    FAILURES: {"id": str, "undetermined": list},
    SPENDING: {"model": str, "usage": dict},
}
"""What a next run reads of the rows, and without which it would go wrong."""
_BLOCK = 65_536
_ROWS_AT_ONCE = 64


class AuditFolderError(Exception):
    """The folder cannot be used as asked. The message says why and what to do."""


@dataclass
class AuditFolder:
    """An audit's folder, locked by this process until it ends; a context manager."""

    path: Path
    _open: dict[str, IO[bytes]] = field(default_factory=dict)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> AuditFolder:
        """Makes the folder, locks it, and takes away last lines that a stop cut short. Raises AuditFolderError."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._refuse_foreign()
            for name in (RESULTS, FAILURES, SPENDING):
                self._open[name] = (self.path / name).open("a+b", buffering=0)
            fcntl.flock(self._open[RESULTS], fcntl.LOCK_EX | fcntl.LOCK_NB)
            for file in self._open.values():
                _cut_torn_line(file)
        except BlockingIOError:
            self.__exit__()
            raise AuditFolderError(f"-o {self.path}: another audit is writing there; wait for it, or stop it") from None
        except OSError as error:
            self.__exit__()
            raise AuditFolderError(f"-o {self.path}: it cannot be written to ({error.strerror})") from None
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the files, which gives up the lock."""
        for file in self._open.values():
            file.close()

    def _refuse_foreign(self) -> None:
        """A stop before the settings were written leaves nothing but files of ours behind."""
        if (self.path / SETTINGS).exists():
            return
        if {entry.name for entry in self.path.iterdir()} - _BEFORE_SETTINGS:
            raise AuditFolderError(f"-o {self.path}: it is not empty and holds no audit; name another folder")

    def agree(self, settings: Mapping[str, Any]) -> None:
        """Writes the settings, or raises AuditFolderError where the folder was begun with others."""
        path = self.path / SETTINGS
        before = self._settings(path)
        if before is None:
            self._replace(SETTINGS, [json.dumps(settings, indent=1, ensure_ascii=False)])
            return
        for name, value in settings.items():
            if before.get(name) != value:
                former, now = (_setting_said(name, one) for one in (before.get(name), value))
                raise AuditFolderError(
                    f"-o {self.path}: it was begun {former}, not {now}; go on with the former, or name another folder"
                )

    def _settings(self, path: Path) -> Mapping[str, Any] | None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            if self._open[RESULTS].seek(0, os.SEEK_END):
                raise AuditFolderError(f"-o {self.path}: it holds results without {SETTINGS}; name another") from None
            return None
        except (OSError, ValueError) as error:
            raise AuditFolderError(f"{path}: it cannot be read as an audit's settings ({error})") from None
        if not isinstance(data, dict):
            raise AuditFolderError(f"{path}: these are no settings of an audit")
        return data

    def add(self, name: str, row: Mapping[str, Any]) -> None:
        """Appends a row and sees it to the disk. Raises CannotKeep."""
        line = json.dumps(row, ensure_ascii=False) + "\n"
        with self._writing:
            write_line(self._open[name], line)

    def note(self, line: str) -> None:
        """Appends to the spendings; the operating system keeps it also when this process is killed."""
        with self._writing:
            write_line(self._open[SPENDING], line, to_disk=False)

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """The rows of a file, one by one. Raises AuditFolderError where a line is none."""
        with (self.path / name).open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    row = json.loads(line)
                except ValueError:
                    row = None
                wrong = _wrong_in(row, _FIELDS.get(name, {}))
                if wrong is not None:
                    raise AuditFolderError(
                        f"{self.path / name} line {number}: this is no row of an audit{wrong}; mend it"
                    )
                yield row

    def settle(self, done: Iterable[str]) -> int:
        """Leaves in the failures only what has no result, each pair once, as it failed last; how many there are."""
        finished = set(done)
        last = {row["id"]: row for row in self.rows(FAILURES) if row["id"] not in finished}
        self._replace(FAILURES, [json.dumps(row, ensure_ascii=False) for row in last.values()])
        self._open[FAILURES].close()
        self._open[FAILURES] = (self.path / FAILURES).open("a+b", buffering=0)
        return len(last)

    def keep_unreadable(self, problems: Sequence[InputProblem], *, whole: bool) -> int:
        """Writes down what cannot be read, and keeps what an earlier run told where this one did not read the `whole`
        source; how many records there are."""
        path = self.path / UNREADABLE
        earlier = self.rows(UNREADABLE) if path.exists() and not whole else ()
        told = {row.get("where"): row for row in (*earlier, *map(asdict, problems))}
        if told or path.exists():
            self._replace(UNREADABLE, [json.dumps(row, ensure_ascii=False) for row in told.values()])
        return len(told)

    def _replace(self, name: str, lines: Iterable[str]) -> None:
        draft = self.path / f"{name}.part"
        try:
            with draft.open("w", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(f"{line}\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path / name)
        except OSError as error:
            raise AuditFolderError(f"{self.path / name}: it cannot be written ({error.strerror})") from None

    def write_parquet(self) -> bool:
        """The results as `results.parquet`, whole or not at all; whether pyarrow was there to do it.

        Raises AuditFolderError.
        """
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            return False
        schema = _schema(pyarrow)
        draft = self.path / f"{PARQUET}.part"
        try:
            with pyarrow.parquet.ParquetWriter(draft, schema, compression="zstd") as writer:
                for batch in _batches(self.rows(RESULTS)):
                    flat = [{name: _flat(row, name) for name in schema.names} for row in batch]
                    writer.write_table(pyarrow.Table.from_pylist(flat, schema))
            draft.replace(self.path / PARQUET)
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else error
            raise AuditFolderError(f"{self.path / PARQUET}: it cannot be written ({why})") from None
        return True


def _wrong_in(row: Any, kinds: Mapping[str, type]) -> str | None:
    """None, or the first field that is not as it should be, as the end of a sentence."""
    if not isinstance(row, dict):
        return ""
    return next((f" (field {name})" for name, kind in kinds.items() if not isinstance(row.get(name), kind)), None)


def write_line(file: IO[bytes], line: str, *, to_disk: bool = True) -> None:
    """In one piece: a line is there, or torn at the file's end, which the next run takes away. Raises CannotKeep."""
    data = line.encode("utf-8", "backslashreplace")
    try:
        while data:
            data = data[file.write(data) :]
        if to_disk:
            os.fsync(file.fileno())
    except OSError as error:
        raise CannotKeep(f"{file.name}: it cannot be written ({error.strerror})") from None


def _setting_said(name: str, value: Any) -> str:
    """A setting as the person gave it: an option mostly, which was given or was not."""
    if name == "shortcuts":
        return "without --no-shortcuts" if value else "with --no-shortcuts"
    if name == "models" and isinstance(value, list):
        return f"with {' '.join(f'--model {model}' for model in value)}" if value else "without --model"
    if name == "backbones" and isinstance(value, dict):
        return f"with {'; '.join(_backbone_said(one, value[one]) for one in value)}"
    if value is None:
        return _NONE_SAID.get(name, f"without --{name}")
    return _SAID.get(name, f"with --{name} {{}}").format(value)


def _backbone_said(name: str, described: Mapping[str, Any]) -> str:
    """A backbone by its table's name, with what the file says of it."""
    models = [described["model"], *(f"{role}={model}" for role, model in described["models"].items())]
    return f"{name} ({', '.join(models)} at {described['address'] or 'the usual address'})"


def _cut_torn_line(file: IO[bytes]) -> None:
    """Takes away what follows the last line end."""
    end = size = file.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(0, end - _BLOCK)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            end = begin + found + 1
            break
        end = begin
    if end < size:
        file.truncate(end)


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _ROWS_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _schema(pyarrow: Any) -> Any:
    """Columns of a table; what is nested deeper than a list of evidence stays in the JSON lines."""
    text, texts = pyarrow.string(), pyarrow.list_(pyarrow.string())
    evidence = pyarrow.list_(
        pyarrow.struct([(name, text) for name in ("label", "source", "quote", "author", "url", "path")])
    )
    names = ("id", "repository", "verdict", "action", "reason", "statement", "backend")
    lists = ("labels", "scenarios", "confidences", "undetermined", "unread", "partial")
    numbers = [("tokens", pyarrow.int64()), ("dollars", pyarrow.float64()), ("seconds", pyarrow.float64())]
    return pyarrow.schema(
        [*((name, text) for name in names), *((name, texts) for name in lists), ("evidence", evidence), *numbers]
    )


def _flat(row: Mapping[str, Any], name: str) -> Any:
    findings = row.get("findings", [])
    if name in ("scenarios", "confidences"):
        return [finding[name[:-1]] for finding in findings]
    if name == "evidence":
        return [
            {"label": finding["label"], **{key: one.get(key) for key in ("source", "quote", "author", "url", "path")}}
            for finding in findings
            for one in finding["evidence"]
        ]
    return row.get(name)
