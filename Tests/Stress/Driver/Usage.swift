/// The command line was not understood.
struct UsageError: Error {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}

enum Usage {
  static let text = """
    usage: Tools/stress [--seconds N] [--seed S] [--round R] [--with "NAME=N ..."] [--round-seconds N] [--go-on]
                        [--ignore KIND]... [--keep] [--debug]
           Tools/stress soak [--seconds N] [--interval N] [--samples FILE] [--seed S] [--debug]

    Writes to stores on a real file system, beside readers in other processes, merges, backups and kills, and looks whether all
    that is shown was ever so. Every write follows from the seed, so each process knows what a snapshot at a number must hold.

    Rounds of some seconds follow each other, each with a store and a configuration of its own, which is drawn from the seed. A
    line tells what a round did. The first finding ends the run with exit code 1: what was expected, what was seen, the seed and
    the configuration.

      --seconds N        how long; 60 by default. The last round ends after that
      --seed S           what all is drawn from; another one each time by default
      --round R          only this round of the seed, again and again
      --with "..."       sets parts of the configuration, such as "segment=65536 batch=50 mergers=3"
      --round-seconds N  how long a round is; 5 by default
      --go-on            goes on with the next round after a finding, and counts the findings by kind in the end
      --ignore KIND      passes over findings of a kind, such as "refresh is behind"; may be given several times
      --keep             leaves the directory of a round that found something
      --debug            (Tools/stress only) runs a debug build

    A configuration's numbers: segment, batch, keys, value (bytes), threads; mixed: removals, expiry, swaps and emptied
    keyspaces beside keys that are always there; large: some values of up to 100 KB; synced: 0 none, 1 some, 2 all; merging:
    in the background; amplification (tenths), mergers (threads that call merge), capacity (bytes), packing, walkers (threads
    that walk snapshots in the writer), openers and followers (processes), verifying, backups, pause (microseconds after 64
    writes), kills (of the writer, in a round).

    With soak, one process uses a log and a cache for an hour, or --seconds, with everything on: expiry, batches, evictions, merges,
    snapshots, a reader that follows, a feed, backups. Each --interval seconds, 5 by default, it looks at memory, descriptors, mappings,
    threads, disk and latencies; --samples writes them as CSV. The exit code is 1 if one of them, latencies aside, grows. Linux only.

    The timing of threads and processes does not repeat: the same round may have to run several times to find the same again.
    """
}
