"""docs/adapters.md is executed: each example prints what the page shows."""

from pathlib import Path

import pytest

from tests.adapters.page import PAGE, outputs, sections

pytestmark = pytest.mark.filterwarnings("ignore")  # of the other libraries
MODULES = {"langchain": "langchain_classic"}
CACHES = ("HF_HOME", "HF_MODULES_CACHE", "HF_EVALUATE_CACHE", "WANDB_DIR", "INSPECT_LOG_DIR")
LIBRARIES = [name for name in sections() if name]


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_example_prints_what_the_page_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for variable in CACHES:
        monkeypatch.setenv(variable, str(tmp_path / variable))
    pytest.importorskip(MODULES.get(name, name), reason=f"{name} is not installed, see docs/adapters.md")
    wanted = [output for _, output in sections()[name]]
    assert all(wanted)
    assert outputs(name, tmp_path) == wanted


def test_every_adapter_is_on_the_page() -> None:
    modules = {path.stem for path in Path("src/gistmeter/adapters").glob("*.py")} - {"__init__", "common"}
    assert set(LIBRARIES) == modules
    for name in modules:
        assert f"`as_{name}`" in PAGE.read_text(encoding="utf-8")
        assert len(Path(f"src/gistmeter/adapters/{name}.py").read_text().splitlines()) < 80
