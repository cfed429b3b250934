"""Ranges that are counted and removed, verification, events, change feeds."""

import tempfile
import threading
import time
import unittest
from pathlib import Path

import esker


class FollowingTests(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "store.esker"

    def test_ranges_are_counted_and_removed(self):
        with esker.open(in_memory=True) as store:
            store.update({f"n{number:03}": "v" for number in range(1000)})
            self.assertEqual(store.count_range(), 1000)
            self.assertEqual(store.count_range("n100", "n200"), 100)
            self.assertEqual(store.count_range("n100", "n200", include_start=False, include_stop=True), 100)
            self.assertEqual(store.remove_range(prefix="n1"), 100)
            self.assertEqual(store.remove_range("n900", durability="synced"), 100)
            self.assertEqual(len(store), 800)
            self.assertEqual(store.count_range("x"), 0)
        with self.assertRaises(esker.ClosedError):
            store.count_range()

    def test_verification(self):
        with esker.open(self.path) as store:
            store["k"] = "whose bytes are easily found"
            shares = []
            report = store.verify(shares.append)
            self.assertEqual(report["damage"], [])
            self.assertGreaterEqual(report["records"], 1)
            self.assertEqual(shares[-1], 1)
            with self.assertRaises(esker.CancelledError):
                store.verify(lambda share: False)
            with self.assertRaises(ZeroDivisionError):
                store.verify(lambda share: 1 // 0)
            for path in self.path.glob("*.segment"):
                contents = path.read_bytes()
                with open(path, "r+b") as file:
                    if b"whose" in contents:
                        file.seek(contents.index(b"whose"))
                        file.write(b"W")
            damage = store.verify()["damage"]
            self.assertEqual(len(damage), 1)
            self.assertIn(".segment", damage[0]["path"])

    def test_events(self):
        events = []
        store = esker.open(self.path, segment_size=64 << 10, on_event=events.append)
        for _ in range(50):
            store["k"] = bytes(10000)
        store.merge()
        store.close()
        end = time.monotonic() + 600
        while (not events or events[-1].kind != "closed") and time.monotonic() < end:
            time.sleep(0.001)
        kinds = [event.kind for event in events]
        self.assertEqual(kinds[0], "opened")
        self.assertEqual(kinds.count("closed"), 1)
        self.assertIn("segment_sealed", kinds)
        self.assertTrue(all(event.text for event in events))
        with self.assertRaises(esker.NotAStoreError):
            esker.open(self.path / "none", "w", on_event=events.append)

    def test_changes(self):
        with esker.open(self.path) as store:
            cities = store.keyspace("cities")
            feed = store.changes(0)
            self.assertIsNone(feed.next(0))
            store.put("a", "1", expiry=3600)
            change = feed.next()
            self.assertEqual((change.kind, change.key, change.value, change.keyspace), ("put", b"a", b"1", ""))
            self.assertIsNotNone(change.expires_at)
            with store.snapshot() as snapshot:
                since = snapshot.sequence
            self.assertGreaterEqual(since, change.sequence)
            with store.batch(durability="synced") as batch:
                batch.put("at", "", keyspace=cities)
                batch.remove("a")
            cities.clear()
            store.sync()
            with store.changes(since) as later:
                shown = [later.next(0) for _ in range(4)]
            self.assertEqual(
                [change and change[:1] + change[2:5] for change in shown],
                [
                    ("put", "cities", b"at", b""),
                    ("remove", "", b"a", None),
                    ("remove_all", "cities", None, None),
                    None,
                ],
            )
            self.assertEqual([change.batch_continues for change in shown[:3]], [True, False, False])
            seen = []
            reader = threading.Thread(target=lambda: seen.extend(feed))
            reader.start()
            store["later"] = "v"
        # The end of the store is that of the loop.
        reader.join()
        self.assertEqual([change.key for change in seen], [b"at", b"a", None, b"later"])
        self.assertTrue(feed.at_end)
        with self.assertRaises(esker.ClosedError):
            store.changes()
