# docker build -t paichecker . && docker run -p 8080:8080 -v paichecker:/data paichecker
# The first start prints the address of the set-up page; settings: docs/settings.md.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE app.yml ./
COPY checker checker
COPY bot bot
COPY prompts prompts
COPY examples examples
RUN pip install --constraint constraints.txt . && rm -rf /src/* && install -d -o nobody -g nogroup -m 0700 /data

ENV PAICHECKER_DATA=/data PORT=8080
VOLUME ["/data"]
EXPOSE 8080
WORKDIR /
USER nobody
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]
CMD ["python", "-m", "bot"]
