import ArgumentParser
import Esker

/// The tool's exit codes, which scripts rely on.
///
/// Those from 64 on are from `sysexits.h`.
enum ExitStatus {
  static let success: Int32 = 0
  /// A key was not found, a line could not be loaded, or the store is damaged.
  static let failure: Int32 = 1
  /// Of "diff": the store is damaged, so that it cannot be told whether it differs.
  static let trouble: Int32 = 2
  /// The command line, or a key or value on it, is invalid.
  static let usage: Int32 = 64
  /// There is no store, or no input file, at the path.
  static let noInput: Int32 = 66
  /// The operating system reported an error, or the volume is full.
  static let inputOutput: Int32 = 74
  /// The store is open for writing elsewhere.
  ///
  /// In addition, a command stopped by a signal exits with 128 plus the signal's number, as in a shell.
  static let locked: Int32 = 75

  static func code(for error: StoreError) -> Int32 {
    switch error {
    case .damaged, .historyGone, .conflict: failure
    case .keyTooLong, .valueTooLong, .batchTooLarge, .invalidKeyspace, .keyspaceRemoved, .noSuchKeyspace: usage
    case .notAStore, .unfinishedCopy, .otherStore, .unknownFormat: noInput
    case .closed, .readOnly, .cancelled, .directoryNotEmpty, .noSpace, .capacityReached, .keyspaceFull, .accessDenied,
      .suspended, .failed, .syncFailed, .outcomeUnknown:
      inputOutput
    case .locked: locked
    }
  }

  static func code(for error: ToolError) -> Int32 {
    switch error {
    case .outputClosed: success
    case .noKeyspace, .notFound, .someAbsent, .nothingFound, .noneInRange, .noSegment, .noRecord, .badLine, .badBytes,
      .badGzip,
      .nothingLoaded,
      .notErased, .damageFound, .otherFormsFound, .otherInput, .notRepresentable, .benchmarkFailed, .different,
      .historyMerged,
      .notWritten,
      .noPosition, .otherPosition, .changedMeanwhile, .notConfirmed, .nothingToMeasure:
      failure
    case .comparedDamage: trouble
    case .argumentNotUTF8, .notEncoded, .notOfForm, .notForDocuments, .otherForms, .notFromJSON, .noCommand, .noCounter,
      .noCounters, .copyOntoItself, .nowhere, .openQuote, .longLine, .lineNotUTF8, .notInShell, .noHost, .noServer,
      .readOnlyShell,
      .editedToOtherForm, .notEditable, .otherFile, .noKeyField,
      .insideStore, .oneKeyspace, .noTable, .noColumn:
      usage
    case .noStore, .noInput, .noDirectory: noInput
    case .system, .outputExists, .editorFailed, .noProgram, .programFailed: inputOutput
    case .interrupted(let signal): 128 + signal
    }
  }
}
