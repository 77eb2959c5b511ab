"""benchmarks/sumqe_people.py on predictions of DUC folds."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gistmeter.metrics.sumqe.training.rows import read_set
from tests.metrics.sumqe.test_table1 import save_head
from tests.tiny_duc import DOCSETS, SYSTEMS, save_folder, save_tar

ROOT = Path(__file__).parents[3]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sumqe_people", ROOT / "benchmarks" / "sumqe_people.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("references", [True, False])
def test_duc_folds_have_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, references: bool
) -> None:
    from transformers import BertForMaskedLM

    save_folder(tmp_path / "duc2005", 2005)
    save_tar(tmp_path / "duc2006", 2006)
    lines = []
    for name in ("duc2005", "duc2006"):
        for row in read_set(tmp_path, {"name": name, "duc": name}):
            facts = {"set": name, "doc_id": row.document, "system": row.system, "fold": f"fold-{name}"}
            people = {quality: 1 + 4 * share for quality, share in row.labels.items()}
            lines.append(json.dumps({**facts, "candidate": row.text, "people": people, "said": people}))
    (tmp_path / "predictions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    data = tmp_path if references else tmp_path / "elsewhere"
    filler = save_head(tmp_path / "masked", BertForMaskedLM)
    words = ["--data", str(data), "--predictions", str(tmp_path / "predictions.jsonl"), "--filler", filler]
    monkeypatch.setattr(sys, "argv", ["sumqe_people.py", *words])
    script().main()
    table = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()[2:]]
    cells = [[cell.strip() for cell in row] for row in table]
    metrics = {row[2] for row in cells}
    assert ("best ROUGE" in metrics) == references
    assert {row[0] for row in cells} == {"duc2005", "duc2006"}
    own = [row for row in cells if row[2] == "sumqe" and row[1] == "focus"]
    assert {(row[3], row[4], row[5]) for row in own} == {
        ("pooled", str(DOCSETS * SYSTEMS), "1.000"),
        ("system", str(SYSTEMS), "1.000"),
    }
