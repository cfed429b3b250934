import ArgumentParser
import Foundation

/// What the files of a folder stand for.
struct FolderOptions: ParsableArguments {
  @Option(
    help:
      "How keys are in the names of a folder's files: percent as dump writes them, plain, base64 (Shallows) or md5 (Cache)."
  )
  var names: FileNames?

  @Option(
    help: ArgumentHelp("The keys whose files are looked for where names are digests, one per line.", valueName: "file"),
    completion: .file()
  )
  var keyList: String?

  @Flag(help: "Take the instant at which a folder's file was changed for that of expiry, as Cache does.")
  var expiresModified = false

  @Option(
    help: ArgumentHelp(
      "Take the value of this field of a folder's JSON files, as object of Cache's.",
      valueName: "path"
    )
  )
  var unwrap: String?

  var isEmpty: Bool { names == nil && keyList == nil && !expiresModified && unwrap == nil }

  func validate() throws {
    if names == .md5, keyList == nil {
      throw ValidationError(
        "The names of files do not say the keys whose digests they are: give the keys with --key-list."
      )
    }
    if keyList != nil, names != .md5 { throw ValidationError("--key-list goes with --names md5.") }
    if let unwrap, ValuePath(unwrap) == nil {
      throw ValidationError("--unwrap takes names of fields with dots between them, and \"\(unwrap)\" is none.")
    }
  }

  func source(_ folder: String, limit: Int) throws -> FolderSource {
    var known: [String: String] = [:]
    if let keyList {
      var keys = LineReader(try InputFile(keyList, gunzips: true), limit: limit)
      while case .text(let range) = try keys.next() {
        let key = ContiguousArray(keys.buffer).span.extracting(range)
        guard UTF8Check.isValid(key) else { throw ToolError.badLine(number: keys.lineNumber, why: "not valid UTF-8") }
        known[FileNames.md5(of: key.text)] = key.text
      }
    }
    return FolderSource(
      folder,
      names ?? .percent,
      known,
      expiresModified: expiresModified,
      path: unwrap.flatMap { ValuePath($0) },
      limit: limit
    )
  }
}
