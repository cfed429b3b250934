"""Reads with Python what a Swift program has written: python3 read_measurements.py STORE

Each part between two lines of `# %%` is a cell, for editors that run cells, such as VS Code, Spyder and Jupyter with Jupytext.
"""

# %% Open the store to read. The program that writes may have it open at the same time.
import json
import statistics
import struct
import sys

import esker

store = esker.open(sys.argv[1], "r")
stations = store.keyspace("stations")
measurements = store.keyspace("measurements")
print(store, store.keyspace_names())
print("written by", store["written by"].decode(), "until", store.info("written by").expires_at)

# %% A keyspace is a mapping.
for station, value in sorted(stations.items()):
    place = json.loads(value)
    print(f"{station.decode():10} {place['name']:8} {place['altitude']:4} m")

# %% A counter is a number of eight bytes.
written = int.from_bytes(store["measurements"], "little", signed=True)
print(written, "measurements were counted,", len(measurements), "are there")
assert written == len(measurements) == 3 * 10 * 24


# %% A station's measurements are a range, as their keys begin with its name.
def temperature(value: bytes) -> float:
    return struct.unpack("<d", value)[0]


for station in sorted(stations):
    values = [temperature(value) for _, value in measurements.range(prefix=station + b"/")]
    print(f"{station.decode():10} {len(values)} values, mean {statistics.mean(values):5.2f} °C, max {max(values):5.2f} °C")
    assert len(values) == 240

# %% So is one day, and the last hours.
day = list(measurements.range("at-graz/2026-03-05T", "at-graz/2026-03-06T"))
assert len(day) == 24
warmest = max(day, key=lambda entry: temperature(entry[1]))
print("the warmest hour of 5 March in Graz:", warmest[0].decode(), f"{temperature(warmest[1]):.2f} °C")
assert warmest[0] == b"at-graz/2026-03-05T14"

last = [key.decode() for key in measurements.range_keys(prefix="at-vienna/", reverse=True, limit=3)]
print("the last hours in Vienna:", last)
assert last == ["at-vienna/2026-03-10T23", "at-vienna/2026-03-10T22", "at-vienna/2026-03-10T21"]

# %% Many at once. Into memory that is there, without a bytes object for each, where millions are read.
keys = [f"ch-zurich/2026-03-{day:02}T12" for day in range(1, 11)]
noon = [temperature(value) for value in measurements.get_many(keys) if value is not None]
print("noon in Zürich:", [f"{value:.1f}" for value in noon])
assert len(noon) == 10

buffer = bytearray(8)
assert measurements.get_into(keys[0], buffer) == 8
assert temperature(buffer) == noon[0]

# %% A snapshot stays as it is while the program goes on writing.
with store.snapshot() as snapshot:
    then = snapshot.keyspace(measurements)
    print(sum(1 for _ in then.range_keys(prefix="at-")), "measurements in Austria")

# %% What the store takes.
figures = store.statistics()
print({name: figures[name] for name in ("keys", "liveBytes", "bytesOnDisk", "lastSequence")})
store.close()
print("all is as it was written")
