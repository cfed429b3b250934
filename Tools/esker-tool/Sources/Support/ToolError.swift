import Esker
import EskerPlatform
import Foundation

/// The tool's own errors.
enum ToolError: Error, Equatable {
  /// There is no store at the path.
  case noStore(path: String)
  /// The store has no keyspace with this name.
  case noKeyspace(String, path: String, meant: String? = nil)
  case noInput(path: String)
  /// A compressed input cannot be decompressed.
  case badGzip(name: String, why: String)
  /// The key is absent, or its value has expired.
  case notFound(String)
  /// Some of several keys are absent, which has been reported.
  case someAbsent
  /// A value has been written, or removed, since it was read to be edited; where the edited text is kept.
  case changedMeanwhile(String, kept: String)
  /// What was edited is not of the form of the value; where it is kept.
  case editedToOtherForm(form: String, kept: String)
  /// The text of a value would not make the same bytes again.
  case notEditable(String, form: String)
  /// The editor failed.
  case editorFailed(String, status: Int32)
  /// None of the given number of keys exists.
  case nothingFound(Int)
  /// No key is in the range, and there is no first or last one.
  case noneInRange
  /// A line of the input cannot be loaded, or what takes the place of one.
  case badLine(number: Int, why: String, unit: String = "line")
  /// An input of bytes cannot be understood from some place on.
  case badBytes(name: String, offset: Int, why: String)
  /// A program that a command needs is not on the search path.
  case noProgram(String, package: String)
  /// A program that a command has run failed.
  case programFailed(String, why: String)
  /// A database has no such table, or which one is meant was not said.
  case noTable(String?, path: String, tables: [String])
  /// Rows have no such column, or which one is the key was not said.
  case noColumn(String?, columns: [String])
  /// All of the lines of the input were bad, and skipped.
  case nothingLoaded(Int)
  /// The store has no segment with this number.
  case noSegment(UInt64, path: String)
  /// No record of the key is left in the store's files.
  case noRecord(String)
  /// Something is left in the store's files, which has been reported.
  case notErased(String)
  /// The store is damaged, which has been reported.
  case damageFound
  /// Entries do not have the form that their keyspace records, which has been reported.
  case otherFormsFound
  /// The reader of standard output has closed it.
  case outputClosed
  /// A signal requested termination.
  case interrupted(signal: Int32)
  /// The input is a file of another program.
  case otherFile(name: String, what: String, remedy: String)
  /// The input is not what a dump writes, and no field of its records was named.
  case noKeyField(name: String, isJSON: Bool)
  /// A load cannot resume an earlier one: the input differs, or is read in another way.
  case otherInput(name: String)
  /// An entry cannot be written in the requested format.
  case notRepresentable(key: String, why: String)
  /// An argument is not valid in the given encoding.
  case notEncoded(String, ByteEncoding)
  /// An argument is not of the form that the keyspace records.
  case notOfForm(String, what: String, form: String)
  /// Documents cannot be loaded into a keyspace of other forms.
  case notForDocuments(keyspace: String, keys: String, values: String)
  /// Entries name other forms than the keyspace records.
  case otherForms(keyspace: String, recorded: String, given: String)
  /// There is no such command.
  case noCommand(String, meant: String?)
  /// The value of the key is not a counter.
  case noCounter(String)
  /// The keyspace records values that are not counters.
  case noCounters(keyspace: String, form: String)
  /// A copy to where the entries are.
  case copyOntoItself
  /// What is to be made would be inside the directory of the store that it is made from.
  case insideStore(path: String, store: String)
  /// A question on the terminal was not answered with yes.
  case notConfirmed
  /// A store whose entries are to be measured has none.
  case nothingToMeasure(path: String)
  /// There is no such directory.
  case noDirectory(path: String)
  /// Two stores differ, which has been reported.
  case different
  /// Whether two stores differ cannot be told because one is damaged, which has been reported.
  case comparedDamage
  /// Neither of two stores has the keyspace.
  case nowhere(keyspace: String)
  /// No value of the form can be made from JSON.
  case notFromJSON(form: String)
  /// The changes from a write on are no longer in the log.
  case historyMerged(from: UInt64, oldest: UInt64)
  /// A write that is to be followed from has not happened.
  case notWritten(from: UInt64, last: UInt64)
  /// A file is not what a command keeps its position in.
  case noPosition(path: String)
  /// A file keeps the position in another store.
  case otherPosition(path: String)
  /// A line of commands ends within quotes.
  case openQuote
  /// A line of commands is longer than any value can be.
  case longLine
  /// A line of commands is not UTF-8.
  case lineNotUTF8
  /// A command of the tool that a shell does not have.
  case notInShell(String)
  /// A shell was told to use more than one keyspace.
  case oneKeyspace
  /// A shell that only reads was told to write.
  case readOnlyShell
  /// No address can be listened on under this name.
  case noHost(String)
  /// No address is known of a host to connect to.
  case noServer(String)
  /// The output file already exists.
  case outputExists(path: String)
  /// A benchmark read something other than what it had put.
  case benchmarkFailed(String)
  /// An argument is not UTF-8.
  case argumentNotUTF8(position: Int)
  case system(operation: String, path: String, errno: Int32)
}

extension ToolError {
  /// Whether the command has said what there is to say.
  var isReported: Bool {
    [.outputClosed, .damageFound, .otherFormsFound, .someAbsent, .different, .comparedDamage].contains(self)
  }
}

extension ToolError: CustomStringConvertible {
  var description: String {
    switch self {
    case .noStore(let path): "no store at \(path)"
    case .noKeyspace(let name, let path, let meant):
      "no keyspace \"\(name)\" in \(path)" + (meant.map { ": did you mean \"\($0)\"?" } ?? "")
    case .noInput(let path): "no file at \(path)"
    case .badGzip(let name, let why): "the gzip data of \(name) cannot be read: \(why)"
    case .notFound(let key): "no value for key \"\(key)\""
    case .someAbsent: "some of the keys have no value"
    case .changedMeanwhile(let key, let kept):
      "the value of key \"\(key)\" has changed meanwhile, and was not replaced: what you wrote is in \(kept)"
    case .editedToOtherForm(let form, let kept):
      "what you wrote is not of the form \(form), so nothing was changed: it is in \(kept)"
    case .notEditable(let key, let form):
      "the value of key \"\(key)\" has parts that text of the form \(form) cannot say: use get --raw and put --raw"
    case .editorFailed(let editor, let status):
      "\(editor) ended with \(status), so nothing was changed: name another editor in VISUAL or EDITOR"
    case .nothingFound(let count): "none of the \(count) keys exists"
    case .noneInRange: "there is no such key"
    case .badLine(let number, let why, let unit): "\(unit) \(number): \(why)"
    case .badBytes(let name, let offset, let why): "byte \(NumberText.count(offset)) of \(name): \(why)"
    case .noProgram(let name, let package):
      "the program \(name), which reads and writes such files, is not on the search path: install it, on Debian and Ubuntu "
        + "with apt-get install \(package)"
    case .programFailed(let name, let why): "\(name): \(why)"
    case .noTable(let name, let path, let tables):
      (name.map { "no table \"\($0)\" in \(path)" } ?? "\(path) has \(NumberText.count(tables.count, "table"))")
        + (tables.isEmpty ? "" : ": name one with --table, or give --query: \(tables.joined(separator: ", "))")
    case .noColumn(let name, let columns):
      (name.map { "no column \"\($0)\"" } ?? "which column is the key is not said: name it with --key-field")
        + ": there are \(columns.joined(separator: ", "))"
    case .nothingLoaded(let count):
      count == 1 ? "the only line cannot be loaded" : "none of the \(NumberText.count(count)) lines can be loaded"
    case .notErased(let what): "something is left of \(what)"
    case .damageFound: "the store is damaged"
    case .otherFormsFound: "some entries are not of the recorded form"
    case .outputClosed: "standard output was closed"
    case .interrupted(let number): number == SIGINT ? "interrupted" : "ended by signal \(number)"
    case .otherFile(let name, let what, let remedy): "\(name) is \(what): \(remedy)"
    case .noKeyField(let name, let isJSON):
      isJSON
        ? "\(name) does not begin as what dump writes: name the field of the keys with --key-field, or give --format ndjson"
        : "\(name) does not begin as what dump writes: give --format, and --key-field for documents"
    case .otherInput(let name):
      "\(name) is not what was being loaded when an earlier load stopped, or is read in another way: "
        + "load it without --resume to start over"
    case .notRepresentable(let key, let why): "the entry of key \(key) \(why)"
    case .notEncoded(let text, let encoding):
      encoding == .text ? "\"\(text)\" is not text" : "\"\(text)\" is not \(encoding.rawValue)"
    case .notOfForm(let text, let what, let form):
      "\"\(text)\" is not a \(what) of the form \(form), which the keyspace records: give one, "
        + (what == "key" ? "or its bytes with --key-encoding" : "or bytes with --raw")
    case .notForDocuments(let keyspace, let keys, let values):
      "the keyspace \"\(keyspace)\" records keys of the form \(keys) and values of the form \(values), and documents are text: "
        + "load them into another"
    case .otherForms(let keyspace, let recorded, let given):
      "the keyspace \"\(keyspace)\" records the form \(recorded), and the entries have the form \(given): "
        + "use another keyspace"
    case .noCommand(let name, let meant):
      "no command \"\(name)\"" + (meant.map { ": did you mean \"\($0)\"?" } ?? ": see esker help")
    case .noCounter(let key): "the value of key \"\(key)\" is not a counter, which has 8 bytes"
    case .noCounters(let keyspace, let form):
      "the keyspace \"\(keyspace)\" records values of the form \(form), which are not counters"
    case .copyOntoItself: "both stores are the same: name another keyspace with --into"
    case .insideStore(let path, let store):
      "\(path) is inside the store \(store), and would be lost with it: choose a place outside"
    case .notConfirmed: "nothing was removed"
    case .nothingToMeasure(let path): "no entry in \(path) to measure with"
    case .noDirectory(let path): "no directory at \(path)"
    case .different: "the stores differ"
    case .comparedDamage: "a store is damaged"
    case .nowhere(let keyspace): "no keyspace \"\(keyspace)\" in either store"
    case .notFromJSON(let form):
      "the keyspace records values of the form \(form), which cannot be made from JSON: give bytes with --raw"
    case .historyMerged(let from, let oldest):
      "the changes from write \(from) on are gone, since merges have reclaimed some before \(oldest): follow from there with "
        + "--from \(oldest), after a dump if older entries matter"
    case .notWritten(let from, let last):
      "there is no write \(from) yet, the last one is \(last): use --from now, or start if the store was replaced"
    case .noPosition(let path): "\(path) is not a position that esker follow has kept: name another file, or remove it"
    case .otherPosition(let path): "\(path) keeps the position in another store: name another file, or remove it"
    case .openQuote: "the line ends within quotes, or after a backslash"
    case .longLine: "the line is longer than a value can be"
    case .lineNotUTF8: "the line is not valid UTF-8"
    case .notInShell(let name): "\"\(name)\" is not for a shell: run it as a command of its own"
    case .oneKeyspace: "use takes the name of one keyspace, or nothing"
    case .readOnlyShell: "this shell only reads: start it without --read-only to write"
    case .noHost(let name): "no address to listen on is known for \"\(name)\""
    case .noServer(let name): "no address to connect to is known for \"\(name)\""
    case .outputExists(let path): "\(path) already exists: nothing was written; choose another path, or remove it"
    case .benchmarkFailed(let why): why
    case .argumentNotUTF8(let position):
      "argument \(position) is not valid UTF-8: give a key of other bytes in hex or base64 with --key-encoding, "
        + "and a value on standard input"
    case .noSegment(let id, let path): "no segment \(id) in \(path)"
    case .noRecord(let key): "no record of key \"\(key)\" is on disk"
    case .system(let operation, let path, let code): "cannot \(operation) \(path): \(PlatformError.message(code))"
    }
  }
}
