# An image of `gistmeter serve`: slim, not root, ready for a read-only file system. Build and run as docs/serve.md says.
FROM python:3.12-slim AS build
WORKDIR /build
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN pip install torch --index-url https://download.pytorch.org/whl/cpu
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src src
RUN pip install --constraint constraints.txt '.[web]'

FROM python:3.12-slim
COPY --from=build /opt/venv /opt/venv
RUN useradd --system --uid 10001 --no-create-home gistmeter
USER 10001
ENV PATH=/opt/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 HOME=/tmp HF_HUB_OFFLINE=1
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/readyz', timeout=4)"]
ENTRYPOINT ["gistmeter", "serve", "--host", "0.0.0.0", "--token-file", "/run/secrets/token"]
