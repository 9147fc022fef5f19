"""The proxy as a process: HTTP in, HTTP out, faults between; it obeys lines of JSON on its input.

`{"do": "faults", ...}` sets what fails and counts from zero, `{"do": "counts"}` tells what was
counted, `{"do": "down", "seconds": 3}` begins an outage now. Every line is answered by a line.
"""

import asyncio
import json
import socket
import struct
import sys
import time
from collections import Counter
from urllib.parse import unquote

from stores_server.faults import Faults

CHUNK = 1 << 16


class Proxy:
    """Forwards every request on a connection of its own."""

    def __init__(self, port: int) -> None:
        self.upstream = port
        self.begin(Faults())
        self.down_until = 0.0

    def begin(self, faults: Faults) -> None:
        self.faults = faults
        self.counts: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.keys: Counter[str] = Counter()
        """Bytes of bodies that were sent for each key."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, EOFError):
            pass  # the client left
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False ends the connection."""
        start, headers = await _head(reader)
        body = await _body(reader, writer, headers)
        method, target, _ = start.split(" ", 2)
        path, _, query = target.partition("?")
        key = unquote(path).lstrip("/").partition("/")[2]
        request = f"{method} {path}?{query} {headers.get('range', '')}"
        self.counts["requests"] += 1
        self.counts[f"requests {method}"] += 1
        self.counts["bytes up"] += len(body)
        times, self.seen[request] = self.seen[request], self.seen[request] + 1
        if self.faults.down_after is not None and self.counts["requests"] > self.faults.down_after:
            self.down_until = time.monotonic() + self.faults.down_seconds
            self.faults = Faults(**{**vars(self.faults), "down_after": None})
        if time.monotonic() < self.down_until:
            self.counts["refused"] += 1
            return _reset(writer)
        early = self.counts["requests"] <= self.faults.first
        fault = "" if early else self.faults.fault(request, times)
        if fault:
            self.counts[fault] += 1
        if fault == "reset":
            return _reset(writer)
        if fault == "stall":
            await asyncio.sleep(self.faults.stall_seconds)
        if fault.startswith("error"):
            code = fault.removeprefix("error ")
            return _say(
                writer,
                method,
                f"{code} Out of order",
                "InternalError" if code == "500" else "SlowDown",
            )
        if key in self.faults.lost and method in ("GET", "HEAD"):
            return _say(writer, method, "404 Not Found", "NoSuchKey")
        return await self._forward(writer, (start, headers, body), key, fault)

    async def _forward(self, writer, request, key: str, fault: str) -> bool:
        start, headers, body = request
        up, down = await asyncio.open_connection("127.0.0.1", self.upstream)
        try:
            passed = {
                k: v
                for k, v in headers.items()
                if k not in ("connection", "expect", "transfer-encoding", "content-length")
            }
            passed |= {"connection": "close", "content-length": str(len(body))}
            down.write(_text(start, passed) + body)
            await down.drain()
            status, answer = await _head(up)
            method = start.split(" ", 1)[0]
            whole = b"" if method == "HEAD" else await up.read()
            if method == "HEAD":
                answer = {
                    k: v for k, v in answer.items() if k not in ("connection", "transfer-encoding")
                }
            else:
                answer = {
                    k: v
                    for k, v in answer.items()
                    if k not in ("connection", "transfer-encoding", "content-length")
                }
                answer["content-length"] = str(len(whole))
            sent = whole
            cut = fault.startswith("truncated") and method == "GET" and len(whole) > 1
            if cut:
                sent = whole[: len(whole) // 2]
                if fault.endswith("short"):
                    answer["content-length"] = str(len(sent))
            writer.write(_text(status, answer))
            for place in range(0, len(sent), CHUNK):
                writer.write(sent[place : place + CHUNK])
                await writer.drain()
            await writer.drain()
            if method == "GET":
                self.counts["bytes down"] += len(sent)
                self.keys[key] += len(sent)
            return not cut
        finally:
            down.close()


async def _head(reader: asyncio.StreamReader) -> tuple[str, dict[str, str]]:
    text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    start, *lines = text[:-4].split("\r\n")
    found = (line.partition(":") for line in lines)
    return start, {name.strip().lower(): value.strip() for name, _, value in found}


async def _body(reader, writer, headers: dict[str, str]) -> bytes:
    if headers.get("expect"):
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", 0)))
    parts = []
    while length := int((await reader.readline()).split(b";")[0], 16):
        parts.append(await reader.readexactly(length))
        await reader.readline()
    while (await reader.readline()).strip():
        pass
    return b"".join(parts)


def _text(start: str, headers: dict[str, str]) -> bytes:
    lines = [start, *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _say(writer, method: str, status: str, code: str) -> bool:
    body = f"<Error><Code>{code}</Code><Message>{status}</Message></Error>".encode()
    body = b"" if method == "HEAD" else body
    head = {"content-type": "application/xml", "content-length": str(len(body))}
    writer.write(_text(f"HTTP/1.1 {status}", head) + body)
    return True


def _reset(writer) -> bool:
    """End a connection by RST: what a client sees of a machine that died."""
    writer.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    writer.transport.abort()
    return False


async def main(upstream: int) -> None:
    proxy = Proxy(upstream)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order = json.loads(line)
        match order.pop("do"):
            case "faults":
                proxy.begin(Faults(**order))
                reply = {}
            case "counts":
                reply = {**proxy.counts, "keys": dict(proxy.keys)}
            case "down":
                proxy.down_until = time.monotonic() + order["seconds"]
                reply = {}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
