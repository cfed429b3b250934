"""Openings, keyspaces, batches, snapshots, ranges, conditions, expiry, backups, errors."""

import datetime
import gc
import math
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import esker

UTC = datetime.timezone.utc


class OpeningTests(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "store.esker"

    def test_modes(self):
        for mode in "rw":
            with self.assertRaises(esker.NotAStoreError):
                esker.open(self.path, mode)
        with esker.open(self.path, "x") as store:
            store["a"] = b"1"
            with self.assertRaises(esker.LockedError) as caught:
                esker.open(self.path)
            self.assertEqual(caught.exception.status, 107)
            self.assertIn(str(self.path), str(caught.exception))
            with esker.open(self.path, "r") as reader:
                reader.refresh()
                self.assertEqual(reader["a"], b"1")
                with self.assertRaises(esker.ReadOnlyError):
                    reader["a"] = b"2"
                with self.assertRaises(esker.NoSuchKeyspaceError):
                    reader.keyspace("none")
        with self.assertRaises(esker.DirectoryNotEmptyError):
            esker.open(self.path, "x")
        with esker.open(str(self.path), "w") as store:
            self.assertEqual(store["a"], b"1")
        for wrong in ("a", "", "rw"):
            with self.assertRaises(ValueError):
                esker.open(self.path, wrong)
        with self.assertRaises(TypeError):
            esker.open()
        with self.assertRaises(TypeError):
            esker.open(self.path, in_memory=True)

    def test_settings_are_remembered(self):
        options = dict(
            durability=1.5,
            default_expiry=datetime.timedelta(hours=1),
            compression=9,
            segment_size=1 << 20,
            capacity=64 << 20,
        )
        once = dict(shared=2.5, verification="every_read", merge_automatically=False, merge_bytes_per_second=1 << 20)
        with esker.open(self.path, **options, **once) as store:
            store["a"] = b"1"
        with esker.open(self.path, shared=True, verification="opening") as store:
            settings = store.statistics()["settings"]
            self.assertEqual(settings["durability"], "periodic")
            self.assertEqual(settings["syncPeriodSeconds"], 1.5)
            self.assertEqual(settings["defaultExpirySeconds"], 3600)
            self.assertEqual((settings["compression"], settings["compressionLevel"]), ("lz4", 9))
            self.assertEqual((settings["segmentSize"], settings["capacity"]), (1 << 20, 64 << 20))
        cleared = dict(durability="buffered", default_expiry=esker.NEVER, compression=False, capacity=False)
        with esker.open(self.path, **cleared) as store:
            settings = store.statistics()["settings"]
            self.assertEqual(settings["durability"], "buffered")
            self.assertIsNone(settings["defaultExpirySeconds"])
            self.assertIsNone(settings["compression"])
            self.assertIsNone(settings["capacity"])
        wrong = [
            dict(durability="often"),
            dict(durability=math.nan),
            dict(verification="never"),
            dict(compression=13),
            dict(segment_size=0),
            dict(capacity=True),
            dict(merge_bytes_per_second=-1),
        ]
        for options in wrong:
            with self.assertRaises(ValueError, msg=str(options)):
                esker.open(self.path, **options)
        with self.assertRaises(esker.Error):
            esker.open(in_memory=True, segment_size=1)

    def test_closing(self):
        store = esker.open(self.path)
        cities = store.keyspace("cities")
        batch, snapshot, entries = store.batch(), store.snapshot(), iter(cities)
        self.assertFalse(store.closed)
        store.close()
        store.close()
        self.assertTrue(store.closed)
        self.assertIn("closed", repr(store))
        for call in (
            lambda: cities["a"],
            lambda: store["a"],
            lambda: store.__enter__(),
            lambda: store.statistics(),
            lambda: store.keyspace("b"),
            lambda: store.snapshot(),
            lambda: store.sync(),
            lambda: len(cities),
            lambda: batch.put("a", b"1"),
        ):
            with self.assertRaises(esker.ClosedError):
                call()
        with self.assertRaises(ValueError):
            cities["a"] = b"1"
        self.assertEqual(list(entries), [])
        cities.close()
        cities.close()
        batch.close()
        snapshot.close()
        with esker.open(self.path):
            pass

    def test_what_nobody_refers_to_is_closed(self):
        cities = esker.open(self.path).keyspace("cities")
        gc.collect()
        # A keyspace keeps its store open.
        cities["at"] = b"Vienna"
        del cities
        gc.collect()
        with esker.open(self.path) as store:
            self.assertEqual(store.keyspace("cities")["at"], b"Vienna")

    def test_the_end_of_the_interpreter_closes(self):
        # What is registered first is called last.
        code = """
import atexit, sys
stores = []
atexit.register(lambda: print(stores[0].closed))
import esker
stores.append(esker.open(sys.argv[1]))
stores[0]["a"] = b"1"
print(stores[0].closed)
"""
        ended = subprocess.run([sys.executable, "-c", code, str(self.path)], check=True, capture_output=True, text=True)
        self.assertEqual(ended.stdout.split(), ["False", "True"])
        with esker.open(self.path) as store:
            self.assertEqual(store["a"], b"1")

    def test_a_library_that_is_not_there(self):
        code = "import esker; esker.open(in_memory=True)"
        environment = dict(os.environ, ESKER_LIBRARY="/nowhere/libEskerC.so")
        found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        self.assertNotEqual(found.returncode, 0)
        self.assertIn("LibraryError: ESKER_LIBRARY is /nowhere/libEskerC.so", found.stderr)

    def test_versions(self):
        self.assertEqual(esker.library_version(), esker.__version__)


class KeyspaceTests(unittest.TestCase):
    def setUp(self):
        self.store = esker.open(in_memory=True)
        self.addCleanup(self.store.close)
        self.cities = self.store.keyspace("cities")

    def test_names(self):
        self.store.keyspace("é")
        self.assertEqual(self.store.keyspace_names(), ["cities", "é"])
        self.cities["at"] = b"Vienna"
        self.assertNotIn("at", self.store)
        self.assertEqual(self.store.keyspace("cities")["at"], b"Vienna")
        self.assertTrue(self.store.remove_keyspace("cities"))
        self.assertFalse(self.store.remove_keyspace("cities"))
        with self.assertRaises(esker.KeyspaceRemovedError):
            self.cities["at"]
        with self.assertRaises(esker.InvalidKeyspaceError):
            self.store.keyspace("n" * 300)
        with self.assertRaises(esker.InvalidKeyspaceError):
            self.store.remove_keyspace("")

    def test_conditions(self):
        cities = self.cities
        first = cities.put_if_absent("at", b"Vienna")
        self.assertIsNone(cities.put_if_absent("at", b"Graz"))
        second = cities.put_if_version("at", first, b"Graz")
        self.assertGreater(second, first)
        self.assertIsNone(cities.put_if_version("at", first, b"Linz"))
        self.assertIsNone(cities.put_if_version("at", None, b"Linz"))
        self.assertIsNone(cities.compare_and_set("at", b"Vienna", b"Linz"))
        self.assertIsNone(cities.compare_and_set("at", None, b"Linz"))
        self.assertIsNotNone(cities.compare_and_set("at", "Graz", b""))
        self.assertIsNone(cities.compare_and_set("at", None, b"Linz"))
        third = cities.compare_and_set("at", b"", bytearray(b"Linz"))
        self.assertEqual(cities["at"], b"Linz")
        self.assertFalse(cities.remove("at", version=second))
        self.assertTrue(cities.remove("at", version=third))
        self.assertFalse(cities.remove("at"))
        self.assertIsNone(cities.compare_and_set("at", b"", b"1"))

    def test_counters(self):
        self.assertEqual(self.cities.increment("n"), 1)
        self.assertEqual(self.cities.increment("n", -3), -2)
        self.assertEqual(int.from_bytes(self.cities["n"], "little", signed=True), -2)
        with self.assertRaises(OverflowError):
            self.cities.increment("n", 1 << 63)
        self.cities["text"] = b"text"
        with self.assertRaises(esker.DamagedError):
            self.cities.increment("text")

    def test_expiry(self):
        cities = self.cities
        cities.put("a", b"1", expiry=-1)
        self.assertNotIn("a", cities)
        cities.put("a", b"1", expiry=datetime.datetime(2000, 1, 1, tzinfo=UTC))
        self.assertNotIn("a", cities)
        version = cities.put("a", b"123", expiry=datetime.datetime(2100, 1, 1, tzinfo=UTC))
        self.assertEqual(cities.info("a"), (version, 3, datetime.datetime(2100, 1, 1, tzinfo=UTC)))
        later = cities.touch("a", datetime.timedelta(days=1))
        self.assertEqual(cities.info("a").version, later)
        left = cities.info("a").expires_at - datetime.datetime.now(UTC)
        self.assertTrue(datetime.timedelta(hours=23) < left <= datetime.timedelta(days=1))
        cities.touch("a", esker.NEVER)
        self.assertIsNone(cities.info("a").expires_at)
        cities.touch("a", math.inf)
        self.assertIn("a", cities)
        cities.touch("a", 0)
        self.assertNotIn("a", cities)
        self.assertIsNone(cities.info("a"))
        with self.assertRaises(KeyError):
            cities.touch("a", 1)
        with self.assertRaises(ValueError):
            cities.put("a", b"1", expiry=datetime.datetime(2100, 1, 1))
        with self.assertRaises(TypeError):
            cities.put("a", b"1", expiry="soon")
        with self.assertRaises(TypeError):
            cities.put("a", b"1", expiry=True)

    def test_durability(self):
        for durability in ("buffered", "synced", 0.5, datetime.timedelta(seconds=1), None):
            self.cities.put("a", b"1", durability=durability)
            self.cities.remove("a", durability=durability)
        for wrong in ("", 0, -1):
            with self.assertRaises(ValueError):
                self.cities.put("a", b"1", durability=wrong)

    def test_batches(self):
        self.store["gone"] = b"1"
        with self.store.batch(durability="synced") as batch:
            batch["a"] = b"1"
            batch.put("at", b"Vienna", keyspace=self.cities)
            batch.put("old", b"1", expiry=-1)
            del batch["gone"]
            batch.remove("none", keyspace=self.cities)
            self.assertNotIn("a", self.store)
        self.assertEqual(dict(self.store), {b"a": b"1"})
        self.assertEqual(dict(self.cities), {b"at": b"Vienna"})
        with self.assertRaises(esker.ClosedError):
            batch["b"] = b"1"
        with self.assertRaises(RuntimeError):
            with self.store.batch() as batch:
                batch["b"] = b"1"
                raise RuntimeError
        self.assertNotIn("b", self.store)

        # A transaction.
        version = self.cities.info("at").version
        with self.store.batch() as batch:
            batch.require("at", version, keyspace=self.cities)
            batch.require("none", None)
            batch["b"] = b"1"
        self.cities["at"] = b"Graz"
        with self.assertRaises(esker.ConflictError):
            with self.store.batch() as batch:
                batch.require("at", version, keyspace=self.cities)
                batch["c"] = b"1"
        self.assertEqual(set(self.store), {b"a", b"b"})

        with esker.open(in_memory=True) as other:
            with self.assertRaises(esker.OtherStoreError):
                self.store.batch().put("a", b"1", keyspace=other)

    def test_ranges(self):
        cities = self.cities
        cities.update({f"{number:03}": str(number) for number in range(1000)})

        def keys(*arguments, **options):
            found = list(cities.range_keys(*arguments, **options))
            self.assertEqual([key for key, _ in cities.range(*arguments, **options)], found)
            return [int(key) for key in found]

        self.assertEqual(keys(), list(range(1000)))
        self.assertEqual(keys("100", "105"), list(range(100, 105)))
        self.assertEqual(keys("100", "105", include_start=False, include_stop=True), list(range(101, 106)))
        self.assertEqual(keys(prefix="12"), list(range(120, 130)))
        self.assertEqual(keys(reverse=True, limit=3), [999, 998, 997])
        self.assertEqual(keys("990", reverse=True, limit=30), list(range(999, 989, -1)))
        self.assertEqual(keys(stop=bytearray(b"002")), [0, 1])
        self.assertEqual(keys(limit=0), [])
        self.assertEqual(keys("5", "4"), [])
        self.assertEqual(next(cities.range("500")), (b"500", b"500"))
        with self.assertRaises(ValueError):
            cities.range(limit=-1)

    def test_snapshots(self):
        cities = self.cities
        cities.update({"a": b"1", "b": b"2", "c": b"3"})
        self.store["x"] = b"1"
        with self.store.snapshot() as snapshot:
            cities["a"] = b"other"
            del cities["b"]
            cities["d"] = b"4"
            before = snapshot.keyspace(cities)
            self.assertEqual(dict(before), {b"a": b"1", b"b": b"2", b"c": b"3"})
            self.assertEqual(sorted(before.items()), [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")])
            self.assertEqual(sorted(before.values()), [b"1", b"2", b"3"])
            self.assertIn(b"2", before.values())
            self.assertEqual(len(before), 3)
            self.assertEqual(before["b"], b"2")
            self.assertIsNone(before.get("d"))
            self.assertNotIn("d", before)
            self.assertEqual(list(before.range_keys("b")), [b"b", b"c"])
            self.assertEqual(list(before.range(reverse=True, limit=1)), [(b"c", b"3")])
            self.assertEqual(dict(snapshot.keyspace()), {b"x": b"1"})
        with self.assertRaises(esker.ClosedError):
            before["a"]

    def test_limits(self):
        self.cities[b"k" * 65535] = b"1"
        with self.assertRaises(esker.KeyTooLongError):
            self.cities[b"k" * 65536] = b"1"
        with self.assertRaises(ValueError):
            b"k" * 65536 in self.cities
        with esker.open(in_memory=True, capacity=256 << 10) as cache:
            with self.assertRaises(esker.CapacityReachedError):
                cache["a"] = bytes(200 << 10)

    def test_backups(self):
        with tempfile.TemporaryDirectory() as directory:
            first, second = Path(directory) / "1", Path(directory) / "2"
            self.cities["at"] = b"Vienna"
            self.store.backup(first)
            with self.assertRaises(esker.DirectoryNotEmptyError):
                self.store.backup(first)
            self.cities["de"] = b"Berlin"
            self.store.backup(str(second), previous=first)
            with esker.open(second, "r") as copy:
                self.assertEqual(dict(copy.keyspace("cities")), {b"at": b"Vienna", b"de": b"Berlin"})

    def test_statistics(self):
        self.cities["at"] = b"Vienna"
        self.store.merge()
        statistics = self.store.statistics()
        self.assertEqual(statistics["keys"], 1)
        self.assertEqual(statistics["keyspaces"]["cities"], 1)
        self.assertGreater(statistics["lastSequence"], 0)

    def test_threads(self):
        def work(number):
            for turn in range(500):
                key = f"{number}-{turn}"
                self.cities[key] = key * 100
                if self.cities[key] != (key * 100).encode():
                    failures.append(key)
                self.store.increment("sum")

        failures = []
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(self.store.increment("sum", 0), 2000)


if __name__ == "__main__":
    unittest.main()
