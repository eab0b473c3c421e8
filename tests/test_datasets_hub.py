"""The real `datasets` against a small Hub on loopback: by name and split, and what stands in the way as a sentence."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import command, environment
from hub_server import Hub, Repository, serve_hub
from test_datasets_formats import LIVE, POLYBENCH, SWE_GYM

from checker.taxonomy import Artifact

pytest.importorskip("datasets", reason="the extra `hub` is not installed")
pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

TOKEN = "hf_" + "secret" * 6
CARD = """---
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*
---
# A gym
"""


def numbered(row: dict[str, Any], number: int) -> dict[str, Any]:
    return {**row, "instance_id": f"ann__tool-{number}", "pull_number": str(number)}


def parquet(*rows: dict[str, Any]) -> bytes:
    data = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), data)
    return data.getvalue()


def table(row: dict[str, Any]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row))
    writer.writeheader()
    writer.writerow(row)
    return text.getvalue().encode()


REPOSITORIES = {
    "ann/gym": Repository(
        {
            "README.md": CARD.encode(),
            "data/train-00000-of-00002.parquet": parquet(numbered(SWE_GYM, 1), numbered(SWE_GYM, 2)),
            "data/train-00001-of-00002.parquet": parquet(numbered(SWE_GYM, 3)),
        }
    ),
    "ann/live": Repository(
        {
            "data/dev-00000-of-00001.parquet": parquet(numbered(LIVE, 4)),
            "data/test-00000-of-00001.parquet": parquet(numbered(LIVE, 5)),
        }
    ),
    "ann/two": Repository({"data/validation-0.parquet": parquet(LIVE), "data/test-0.parquet": parquet(LIVE)}),
    "ann/poly": Repository({"test.csv": table({**numbered(POLYBENCH, 6), "hints_text": ""})}),
    "ann/gated": Repository({"data/test-0.parquet": parquet(SWE_GYM)}, is_gated=True),
    "ann/gone": Repository({}, is_gone=True),
    "ann/empty": Repository({"README.md": b"# To come"}),
    "ann/torn": Repository({"data/test-0.parquet": parquet(SWE_GYM)[:300]}),
    "ann/ragged": Repository({"test.csv": b"a,b\n1,2\n1,2,3\n"}),
    "ann/script": Repository({"script.py": b"raise SystemExit"}),
}
READ = {"ann/gym": [1, 2, 3], "ann/gym:train": [], "ann/live:test": [5], "ann/poly:test": [6]}
REFUSED = {
    "ann/two": "it has several splits; name one: ann/two:validation, ann/two:test",
    "ann/live:nosplit": 'Unknown split "nosplit"',
    "ann/none": "Dataset 'ann/none' doesn't exist on the Hub or cannot be accessed.",
    "ann/gated:test": "is a gated dataset on the Hub. Visit the dataset page",
    "ann/gone:test": "Server disconnected",
    "ann/empty": "doesn't contain any data files",
    "ann/torn": "Parquet magic bytes not found in footer",
    "ann/torn:test": "Parquet magic bytes not found in footer",
    "ann/ragged:test": "Expected 2 fields in line 3, saw 3",
    "ann/script": "Dataset scripts are no longer supported",
}


@dataclass(frozen=True)
class Checked:
    """What one command said of all sources, the Hub that it asked, and where it keeps what it fetched."""

    reports: list[dict[str, Any]]
    errors: list[str]
    hub: Hub
    home: Path


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checked]:
    home = tmp_path_factory.mktemp("hub")
    with serve_hub(REPOSITORIES) as hub:
        asked = environment(HF_ENDPOINT=hub.address, HF_HOME=str(home), HF_TOKEN=TOKEN, HF_HUB_DISABLE_TELEMETRY="1")
        done = command("check", *READ, *REFUSED, "--backend", "rules", "--format", "json", env=asked)
        reports = [json.loads(line) for line in done.stdout.decode().splitlines()]
        yield Checked(reports, done.stderr.decode().splitlines(), hub, home)


def test_each_row_of_a_named_split_is_a_pair_and_of_the_only_split_unnamed(checked: Checked) -> None:
    numbers = [number for source in READ.values() for number in source]
    assert [report["id"] for report in checked.reports] == [f"ann__tool-{number}" for number in numbers]


def test_an_empty_field_of_csv_is_unread_as_in_a_file(checked: Checked) -> None:
    live, poly = checked.reports[-2:]
    assert Artifact.ISSUE_DISCUSSION not in live["unread"]
    assert Artifact.ISSUE_DISCUSSION in poly["unread"]


@pytest.mark.parametrize(("source", "said"), REFUSED.items(), ids=REFUSED.keys())
def test_what_stands_in_the_way_is_one_sentence(source: str, said: str, checked: Checked) -> None:
    (line,) = [line for line in checked.errors if line.startswith(f"paichecker: {source}: ")]
    assert said in line


def test_nothing_else_is_said_and_no_token_is(checked: Checked) -> None:
    again = [line for line in checked.errors if "stood before" in line]
    assert len(again) == 3, "the split of ann/gym, named and unnamed, holds the same pairs"
    assert len(checked.errors) == len(REFUSED) + len(again)
    assert TOKEN in checked.hub.tokens
    assert not any("secret" in line for line in checked.errors)


def test_a_data_set_of_which_no_split_was_named_is_not_fetched_beyond_its_first_files_columns(checked: Checked) -> None:
    asked = {path for method, path in checked.hub.asked if method == "GET" and "ann/two/resolve/" in path}
    assert len({path for path in asked if path.endswith(".parquet")}) == 1


def test_what_was_fetched_is_read_again_without_a_network(checked: Checked) -> None:
    offline = environment(HF_ENDPOINT="http://127.0.0.1:9", HF_HOME=str(checked.home), HF_HUB_OFFLINE="1")
    done = command("check", "ann/live:test", "ann/none:test", "--backend", "rules", "--format", "json", env=offline)
    assert json.loads(done.stdout)["id"] == "ann__tool-5"
    (said,) = done.stderr.decode().splitlines()
    assert said.startswith(
        "paichecker: ann/none:test: there is no such file, and as a data set of the Hugging Face Hub"
    )
