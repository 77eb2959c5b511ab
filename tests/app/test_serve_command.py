"""`gistmeter serve`: mistakes end at once with one line, and signals end a service that runs."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from gistmeter.app.cli import main


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["serve", *arguments])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return code, err


def test_mistakes_end_before_anything_is_served(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refused(capsys, "clozee")[0] == 2
    code, said = refused(capsys, "--host", "0.0.0.0")
    assert (code, "--token-file" in said) == (2, True)
    code, said = refused(capsys, "--max-rows", "9", "--max-waiting", "8")
    assert (code, "--max-waiting 8" in said) == (2, True)
    assert refused(capsys, "--token-file", str(tmp_path / "none"))[0] == 3
    short = tmp_path / "token"
    short.write_text("short\n", "utf-8")
    code, said = refused(capsys, "--token-file", str(short))
    assert (code, "16 ASCII characters" in said) == (2, True)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        code, said = refused(capsys, "rouge", "--port", str(other.getsockname()[1]))
    assert (code, "choose another --port" in said) == (2, True)
    assert refused(capsys, "rouge", "--port", "70000")[0] == 2
    monkeypatch.setattr("gistmeter.app.commands.serve.find_spec", lambda name: None)
    code, said = refused(capsys)
    assert (code, "gistmeter[web]" in said) == (2, True)


def test_a_metric_that_cannot_be_loaded_ends_the_service_with_4(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "bertscore", "--model", "missing/model", "--port", "0"]) == 4
    assert "missing/model" in capsys.readouterr().err


@pytest.mark.slow
def test_a_service_prints_its_address_answers_and_ends_with_a_signal(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-token-of-the-tests\n", "utf-8")
    command = [sys.executable, "-m", "gistmeter", "serve", "rouge", "--port", "0", "--token-file", str(token)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert httpx.get(f"{address}/healthz", timeout=60).text == "ok\n"
        assert httpx.get(f"{address}/v1/metrics", timeout=60).status_code == 401
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 143
    assert "gistmeter: terminated" in err
    assert "Traceback" not in err
