"""What tests hold of the store: its addresses, what it counts, and how to break it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stores_server.faults import Faults

HERE = Path(__file__).parent
BUCKET = "bucket"
SECRET = "a-secret-that-no-log-may-show"


@dataclass
class S3Store:
    """An S3 store with one bucket, behind a proxy."""

    server_port: int
    proxy: "subprocess.Popen[str]" = field(repr=False)
    proxy_port: int

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which a process finds the store, through the proxy."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.proxy_port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    @property
    def direct(self) -> Any:
        """A client of boto that goes past the proxy: no faults, no counts."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{self.server_port}",
            aws_access_key_id="testing",
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )

    def put(self, key: str, content: bytes) -> None:
        self.direct.put_object(Bucket=BUCKET, Key=key, Body=content)

    def put_folder(self, folder: Path, key: str) -> str:
        """Copy a folder into the store, past the proxy; return its address."""
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            self.put(f"{key}/{file.relative_to(folder).as_posix()}", file.read_bytes())
        return self.address(key)

    def get(self, key: str) -> bytes:
        return self.direct.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def keys(self, prefix: str = "") -> list[str]:
        pages = self.direct.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return sorted(one["Key"] for page in pages for one in page.get("Contents", ()))

    def delete(self, key: str) -> None:
        self.direct.delete_object(Bucket=BUCKET, Key=key)

    def address(self, key: str) -> str:
        return f"s3://{BUCKET}/{key}"

    def break_it(self, faults: Faults | None = None) -> None:
        """Set what fails from now on (nothing, without faults), and count from zero."""
        self._tell({"do": "faults", **asdict(faults or Faults())})

    def down(self, seconds: float) -> None:
        """Reset every connection for some seconds from now on; 0 ends an outage."""
        self._tell({"do": "down", "seconds": seconds})

    def counts(self) -> dict[str, Any]:
        """Return requests, bytes and faults since `break_it`; `keys` has the bytes of each key."""
        return self._tell({"do": "counts"})

    def _tell(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self.proxy.stdin is not None
        assert self.proxy.stdout is not None
        self.proxy.stdin.write(json.dumps(order) + "\n")
        self.proxy.stdin.flush()
        reply: dict[str, Any] = json.loads(self.proxy.stdout.readline())
        return reply


@contextmanager
def s3_store() -> Iterator[S3Store]:
    """Start a server and a proxy, with an empty bucket; end both."""
    with (
        _process("s3_server") as (_, server_port),
        _process("proxy", str(server_port)) as (proxy, proxy_port),
    ):
        store = S3Store(server_port, proxy, proxy_port)
        store.direct.create_bucket(Bucket=BUCKET)
        yield store


@contextmanager
def _process(script: str, *words: str) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    process = subprocess.Popen(
        [sys.executable, "-m", f"{HERE.name}.{script}", *words],
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.stdout.close()
        process.terminate()
        process.wait(20)
