import ArgumentParser
import Esker

/// How values are shown, or taken as given.
enum Decoding: String, ExpressibleByArgument, CaseIterable {
  /// By the form that the keyspace records.
  case auto
  /// The same, with marks on what JSON has no type for, so that "put" takes it back as it was.
  case marked
  /// CBOR as JSON.
  case cbor
  /// As the JSON that they are.
  case json
  /// As their bytes.
  case raw

  /// The form to show values in, of a keyspace that records one.
  func form(_ recorded: StoredForm) -> StoredForm {
    switch self {
    case .auto, .marked: recorded
    case .cbor: .cbor
    case .json: .json
    case .raw: .raw
    }
  }

  /// The name of that form.
  func name(_ recorded: String?) -> String? {
    switch self {
    case .auto, .marked: recorded
    case .cbor, .json: rawValue
    case .raw: nil
    }
  }
}

/// How a command shows values.
struct DecodeOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Show values as what the keyspace records, as put takes them back, as CBOR, as JSON, or as their bytes.",
      valueName: "auto|marked|cbor|json|raw"
    )
  )
  var decode = Decoding.auto
}
