import ArgumentParser
import Esker

struct List: ScopeCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Print the keys, one per line.",
    discussion: """
      Keys are printed in no particular order: as text where the keyspace records that they are numbers, UUIDs or the like, \
      byte for byte otherwise; "--null" ends each with a zero byte instead of a newline, for \
      keys that contain newlines. On a terminal, control characters are shown as "?". "--key-encoding" prints their bytes \
      in hex or base64. "--values" prints a tab and the value after each, in the form that is recorded; tabs, newlines and \
      bytes that are no text are then shown as \\t, \\n and \\xNN in both. "--expires" prints when the value expires, or "never", \
      behind the key. "--all-keyspaces" prints the name of the keyspace and a tab in front of it, in a pipe none \
      for the default one. "--json" prints an object a line: the fields that a line of "dump" has, the value only with \
      "--values", and \
      "valueBytes".

      --prefix and --match look at keys as they are printed. --from and --to are keys, and take those from the one up to the \
      other, which is left out: in the order of their bytes, which for numbers and dates is theirs. --where looks into values that are JSON or CBOR: a path, a \
      comparison and a value, where the path is made of names and places, as in address.city or tags[0], and a dot is the \
      whole value; numbers compare with numbers and texts with texts, what is not there is null, and ~ finds a part of a text, \
      an element of a list or a name of a field. Every entry is read. Memory does not grow \
      with the store, but with what --sort has to sort.

      Examples:
        esker list cities.esker --prefix a --limit 10
        esker list cities.esker --match 'U+1F98[0-5]' --sort key
        esker list visits.esker --from 2026-11-01 --to 2026-12-01 --sort key
        esker list game.esker --keyspace boards --where 'squares[0] > 0'
        esker list cities.esker --values --sort value-size --reverse --limit 3
        esker list sessions.esker --expires --expiring-within 1h --sort expiry
        esker list people.esker --sort address.city --limit 10
        esker list cities.esker --null | xargs -0 esker delete cities.esker
      """,
    aliases: ["ls"]
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var listing: Listing

  @OptionGroup var order: EntryOrder

  var scope: KeyspaceScope { listing.scope }
  var json: Bool { listing.json }

  func run() throws { try listing.run(store, in: order.order) }
}

struct First: ScopeCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "first",
    abstract: "Print the key that is first in order, or the first few.",
    discussion: """
      As "list --sort key --limit 1" does, with its options: --limit says how many, --prefix, --from and --to among which. The       exit code is 1 if there is none.

      Examples:
        esker first jobs.esker --values
        esker first visits.esker --from 2026-11-01 --limit 10
      """
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var listing: Listing

  var scope: KeyspaceScope { listing.scope }
  var json: Bool { listing.json }

  func run() throws { try listing.runEnd(store, isLast: false) }
}

struct Last: ScopeCommand, JSONPrinting {
  static let configuration = CommandConfiguration(
    commandName: "last",
    abstract: "Print the key that is last in order, or the last few, the last one first.",
    discussion: """
      As "list --sort key --reverse --limit 1" does; see "esker help first".

      Examples:
        esker last visits.esker --prefix vienna --values
      """
  )

  @OptionGroup var store: StoreArguments

  @OptionGroup var listing: Listing

  var scope: KeyspaceScope { listing.scope }
  var json: Bool { listing.json }

  func run() throws { try listing.runEnd(store, isLast: true) }
}
