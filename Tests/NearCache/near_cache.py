#!/usr/bin/env python3
"""A near cache such as many clients have: Redis tells which keys have changed (`CLIENT TRACKING`), and they are dropped.

    near_cache.py [--fence] history name=NAME ports=PORT,PORT... journal=FILE keys=N

A program for `Tools/near-cache`, which says what it is to do. Without --fence it fills late, as Lettuce's `ClientSideCaching` does: it
stores what a read has found even if the key has changed between the answer and the storing. That change was told, and is not told again.
"""

import collections
import os
import random
import socket
import sys
import threading
import time

TIMEOUT = 0.7
PREFIX = "c:kv:"


class Unknown(Exception):
    """Nobody knows whether the server has executed it."""


class Cache:
    def __init__(self, has_fence):
        self.has_fence = has_fence
        self.lock = threading.Lock()
        self.values = {}
        self.fills = {}

    def find(self, key):
        """The value, or what is to be shown at `fill`."""
        with self.lock:
            if key in self.values:
                return True, self.values[key]
            fill = self.fills[key] = object()
            return False, fill

    def fill(self, key, value, fill):
        # Threads are not always run at once.
        if random.random() < 0.1:
            time.sleep(0.002)
        with self.lock:
            if not self.has_fence or self.fills.pop(key, None) is fill:
                self.values[key] = value

    def drop(self, key):
        with self.lock:
            self.values.pop(key, None)
            self.fills.pop(key, None)

    def clear(self):
        with self.lock:
            self.values.clear()
            self.fills.clear()


class Node:
    """A connection. Answers come in the order of requests, and between them what has changed."""

    def __init__(self, port, cache):
        self.cache = cache
        self.lock = threading.Lock()
        self.waiting = collections.deque()
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self.socket.settimeout(None)
        self.stream = self.socket.makefile("rb")
        self.is_open = True
        threading.Thread(target=self.listen, daemon=True).start()
        self.ask("HELLO", "3")
        self.ask("CLIENT", "TRACKING", "ON")

    def ask(self, *words):
        request = b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()) for word in words)
        is_answered, answer = threading.Event(), []
        with self.lock:
            if not self.is_open:
                raise ConnectionError()
            self.waiting.append((is_answered, answer))
            try:
                self.socket.sendall(request)
            except OSError:
                pass  # the listener sees it, too
        if not is_answered.wait(TIMEOUT):
            self.close()
        if not answer:
            raise Unknown()
        return answer[0]

    def close(self):
        # What has changed since is not heard.
        self.cache.clear()
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def listen(self):
        try:
            while True:
                is_push, value = self.read()
                if not is_push:
                    is_answered, answer = self.waiting.popleft()
                    answer.append(value)
                    is_answered.set()
                elif value[0] == "invalidate":
                    if value[1] is None:
                        self.cache.clear()
                    for key in value[1] or []:
                        self.cache.drop(key.removeprefix(PREFIX))
        except (OSError, ValueError, EOFError):
            pass
        with self.lock:
            self.is_open = False
            self.close()
            for is_answered, _ in self.waiting:
                is_answered.set()

    def read(self):
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError()
        kind, text = line[:1], line[1:-2].decode()
        if kind == b"$":
            if text == "-1":
                return False, None
            return False, self.stream.read(int(text) + 2)[:-2].decode()
        if kind in b"*>~":
            return kind == b">", [self.read()[1] for _ in range(int(text))]
        if kind == b"%":
            return False, [self.read()[1] for _ in range(2 * int(text))]
        if kind == b"-":
            return False, RuntimeError(text)
        return False, None if kind == b"_" else text


class Cluster:
    def __init__(self, ports, cache):
        self.ports = ports
        self.cache = cache
        self.lock = threading.Lock()
        self.nodes = {}
        self.places = {}

    def node(self, port):
        with self.lock:
            if port not in self.nodes or not self.nodes[port].is_open:
                self.nodes[port] = Node(port, self.cache)
            return self.nodes[port]

    def ask(self, command, key, *words):
        """The answer of who has the key; ConnectionError if nobody was asked who could have done it."""
        port = self.places.get(key) or random.choice(self.ports)
        for _ in range(8):
            try:
                answer = self.node(port).ask(command, PREFIX + key, *words)
            except (OSError, Unknown) as error:
                self.places.pop(key, None)
                if isinstance(error, Unknown):
                    raise
                port = random.choice(self.ports)
                continue
            if not isinstance(answer, RuntimeError):
                self.places[key] = port
                return answer
            words_of_error = str(answer).split()
            if words_of_error[0] != "MOVED":
                break
            port = int(words_of_error[2].rsplit(":", 1)[1])
        self.places.pop(key, None)
        raise ConnectionError()


class Journal:
    def __init__(self, path):
        self.file = open(path, "a", buffering=1 << 16)
        self.lock = threading.Lock()

    def note(self, *words):
        with self.lock:
            print(*words, file=self.file)

    def flush(self):
        with self.lock:
            self.file.flush()


def now():
    return time.time_ns() // 1000


def work(cluster, cache, journal, name, keys, counts):
    """Which key is written changes five times a second: contention first, then silence, in which a stale copy is seen to be one."""
    for _ in range(8):
        hot = now() // 200_000
        if random.randrange(6) == 0:
            key = random.randrange(keys, 3 * keys) if random.randrange(20) == 0 else hot % keys
            write(cluster, cache, journal, f"k{key}", "-" if random.randrange(8) == 0 else f"<{name}:{next(counts)}>")
        else:
            key = (hot - random.randrange(12)) % keys if random.random() < 0.5 else random.randrange(3 * keys)
            read(cluster, cache, journal, f"k{key}")
    time.sleep(0.001)


def read(cluster, cache, journal, key):
    invoked = now()
    is_found, value = cache.find(key)
    tier = "m"
    if not is_found:
        fill, tier = value, "r"
        try:
            value = cluster.ask("GET", key)
        except (OSError, Unknown):
            journal.note("F", key, invoked, now())
            return
        cache.fill(key, value, fill)
    journal.note("R", key, invoked, now(), value or "-", tier if value else "-")


def write(cluster, cache, journal, key, token):
    invoked = now()
    try:
        if token == "-":
            cluster.ask("DEL", key)
        else:
            cluster.ask("SET", key, token)
        outcome = "ok"
    except Unknown:
        outcome = "unknown"
    except OSError:
        outcome = "failed"
    cache.drop(key)
    journal.note("W", key, invoked, now(), token, outcome)


def main():
    words = sys.argv[1:]
    values = dict(word.split("=", 1) for word in words if "=" in word)
    cache = Cache("--fence" in words)
    cluster = Cluster([int(port) for port in values["ports"].split(",")], cache)
    journal = Journal(values["journal"])
    journal.note("P", os.getpid())
    journal.flush()
    is_over = threading.Event()
    counts = iter(range(1 << 62))

    def go_on():
        while not is_over.is_set():
            work(cluster, cache, journal, values["name"], int(values["keys"]), counts)

    threads = [threading.Thread(target=go_on) for _ in range(6)]
    for thread in threads:
        thread.start()
    while os.read(0, 4096):
        pass
    is_over.set()
    for thread in threads:
        thread.join()
    journal.flush()


main()
