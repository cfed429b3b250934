"""A keyspace as a mapping: what dict does."""

import unittest
import unittest.mock
from array import array
from collections.abc import MutableMapping

import esker


class MappingTests(unittest.TestCase):
    def setUp(self):
        self.store = esker.open(in_memory=True)
        self.addCleanup(self.store.close)

    def test_one_entry(self):
        store = self.store
        self.assertIsInstance(store, MutableMapping)
        store["at"] = "Vienna"
        self.assertEqual(store[b"at"], b"Vienna")
        self.assertIn("at", store)
        self.assertNotIn("de", store)
        self.assertEqual(len(store), 1)
        self.assertIsNone(store.get("de"))
        self.assertEqual(store.get("de", 7), 7)
        with self.assertRaises(KeyError):
            store["de"]
        del store["at"]
        with self.assertRaises(KeyError):
            del store["at"]
        self.assertEqual(len(store), 0)
        self.assertTrue(store)

    def test_iteration(self):
        entries = {b"%d" % number: b"v%d" % number for number in range(500)}
        self.store.update(entries)
        self.assertEqual(set(self.store), set(entries))
        self.assertEqual(dict(self.store.items()), entries)
        self.assertEqual(sorted(self.store.values()), sorted(entries.values()))
        self.assertEqual(set(self.store.keys()), set(entries))
        self.assertIn((b"1", b"v1"), self.store.items())
        self.assertIn(b"v7", self.store.values())
        self.assertNotIn(b"none", self.store.values())
        self.assertEqual(len(self.store.items()), 500)
        # What is written meanwhile is not seen.
        seen = 0
        for key in self.store:
            del self.store[key]
            seen += 1
        self.assertEqual((seen, len(self.store)), (500, 0))

    def test_iteration_may_be_left(self):
        self.store.update({"a": b"1", "b": b"2"})
        iterator = iter(self.store.items())
        next(iterator)
        del iterator
        never_begun = iter(self.store)
        del never_begun

    def test_update(self):
        self.store.update([("a", b"1")], b=b"2")
        self.store.update(c=b"3")
        self.assertEqual(dict(self.store), {b"a": b"1", b"b": b"2", b"c": b"3"})
        with self.assertRaises(TypeError):
            self.store.update([("d", b"1"), ("e", 7)])
        # All or none.
        self.assertNotIn("d", self.store)

    def test_steps_that_read_and_write(self):
        store = self.store
        self.assertEqual(store.setdefault("a", bytearray(b"1")), b"1")
        self.assertEqual(store.setdefault("a", b"2"), b"1")
        self.assertEqual(store.pop("a"), b"1")
        self.assertEqual(store.pop("a", None), None)
        with self.assertRaises(KeyError):
            store.pop("a")
        store["b"] = b"2"
        self.assertEqual(store.popitem(), (b"b", b"2"))
        with self.assertRaises(KeyError):
            store.popitem()
        store["c"] = b"3"
        store.clear()
        self.assertEqual(dict(store), {})

    def test_pop_returns_what_it_removes(self):
        store = self.store
        store["a"] = b"1"
        read = store._get

        def read_then_write(key):
            value = read(key)
            if value == b"1":
                store["a"] = b"2"
            return value

        # As another thread may, between the steps of which it is made.
        with unittest.mock.patch.object(store, "_get", read_then_write):
            self.assertEqual(store.pop("a"), b"2")
        self.assertNotIn("a", store)

    def test_equality_is_identity(self):
        other = self.store.keyspace("other")
        self.assertNotEqual(self.store, other)
        self.assertEqual(self.store, self.store)
        self.assertEqual(len({self.store, other}), 2)
        self.assertEqual(repr(other), "<esker.Keyspace 'other'>")


class BufferTests(unittest.TestCase):
    def setUp(self):
        self.store = esker.open(in_memory=True)
        self.addCleanup(self.store.close)

    def test_whatever_has_bytes(self):
        value = b"\x00\x01\x02\x03"
        sources = [
            value,
            bytearray(value),
            memoryview(value),
            memoryview(bytearray(b"??" + value))[2:],
            array("B", value),
        ]
        for number, source in enumerate(sources):
            self.store[b"key"] = source
            self.assertEqual(self.store[memoryview(b"key")], value, number)
            self.store[source] = b"as a key"
            self.assertEqual(self.store.pop(value), b"as a key")
        for empty in (b"", bytearray(), memoryview(b""), ""):
            self.store[empty] = empty
            self.assertEqual(self.store.pop(empty), b"")

    def test_buffers_are_let_go(self):
        source = bytearray(b"value")
        self.store["key"] = source
        # As long as it is lent, it could not grow.
        source += b"!"
        target = bytearray(5)
        self.store.get_into("key", target)
        target += b"!"
        self.assertEqual(target, b"value!")

    def test_what_has_none(self):
        for wrong in (7, None, 1.5, ["a"], object()):
            with self.assertRaises(TypeError):
                self.store["key"] = wrong
            with self.assertRaises(TypeError):
                self.store[wrong]
        with self.assertRaises(BufferError):
            self.store["key"] = memoryview(b"abcdef")[::2]

    def test_reading_into_a_buffer(self):
        self.store["key"] = b"value"
        for target in (bytearray(8), memoryview(bytearray(8)), array("B", bytes(8))):
            self.assertEqual(self.store.get_into("key", target), 5)
            self.assertEqual(bytes(target), b"value\0\0\0")
        short = bytearray(3)
        self.assertEqual(self.store.get_into("key", short), 5)
        self.assertEqual(short, b"val")
        self.assertEqual(self.store.get_into("key", bytearray()), 5)
        with self.assertRaises(KeyError):
            self.store.get_into("none", short)
        with self.assertRaises(BufferError):
            self.store.get_into("key", b"read-only")

    def test_sizes(self):
        for length in (0, 1, 4095, 4096, 4097, 1 << 20):
            value = bytes(number % 251 for number in range(length))
            self.store["key"] = value
            self.assertEqual(self.store["key"], value)
            self.assertEqual(self.store.get_many(["key", "none"]), [value, None])
            self.assertEqual(list(self.store.values()), [value])

    def test_many(self):
        self.store.update({str(number): str(number) for number in range(0, 3000, 2)})
        found = self.store.get_many(str(number) for number in range(3000))
        self.assertEqual(found, [None if number % 2 else b"%d" % number for number in range(3000)])
        self.assertEqual(self.store.get_many([]), [])
        self.store[""] = b"empty"
        self.store["none"] = b""
        keys = [bytearray(b"2"), "1", memoryview(b"4"), b"", bytearray(), "none"]
        self.assertEqual(self.store.get_many(keys), [b"2", None, b"4", b"empty", b"empty", b""])
        self.assertEqual(self.store.get_many(["1"]), [None])


if __name__ == "__main__":
    unittest.main()
