import PandoLMDB
import PandoModels
import PandoRecords
import PandoStore
import PandoSystem

/// A failure, as printed: operation, place, reason and remedy.
struct CommandError: Error, Hashable {
  /// The exit status of the process.
  let exitCode: ExitCode
  /// The place: a path, a line and column, an identifier; empty if there is none.
  var place: String
  /// The reason.
  var reason: String
  /// The remedy; empty if there is none.
  var remedy: String

  init(_ exitCode: ExitCode, at place: String = "", _ reason: String, remedy: String = "") {
    self.exitCode = exitCode
    self.place = place
    self.reason = reason
    self.remedy = remedy
  }

  /// Returns the whole error as one line without its line break.
  ///
  /// - Parameter subject: The operation, for example `pando import`.
  /// - Returns: The line, with control characters escaped.
  func line(for subject: String) -> String {
    var line = subject
    if !place.isEmpty { line += ": " + place }
    line += ": " + reason
    if !remedy.isEmpty { line += "; " + remedy }
    return line.escapingControlCharacters
  }

  /// Returns the error with a place in front of its own.
  func placed(in outer: String) -> CommandError {
    var error = self
    error.place = place.isEmpty ? outer : outer + ", " + place
    return error
  }

  /// Returns the error with further advice.
  ///
  /// The advice replaces “nothing was changed” in the error.
  func advising(_ advice: String) -> CommandError {
    var error = self
    let parts = remedy.isEmpty ? [] : remedy.split(separator: "; ").map(String.init)
    error.remedy = (parts.filter { $0 != "nothing was changed" } + [advice])
      .joined(separator: "; ")
    return error
  }
}

/// The exit statuses of the command.
enum ExitCode: Int32, Sendable {
  /// The command has done everything requested.
  case done = 0
  /// Something requested is missing: a store, a file, an identifier, a collection, a key.
  case notThere = 1
  /// The arguments are wrong.
  case usage = 2
  /// The input is wrong: not JSON, a node without its identifying field, a cycle.
  case badInput = 3
  /// The store or the system failed: a damaged file, a full disk, missing permissions.
  case failure = 4
}

extension CommandError {
  /// Makes an error of any error that ends a command.
  ///
  /// - Parameters:
  ///   - error: The thrown error.
  ///   - path: The store in use, if any.
  init(wrapping error: any Error, store path: String = "") {
    switch error {
    case let error as CommandError: self = error
    case let error as JSONError:
      self.init(
        .badInput, at: "line \(error.line), column \(error.column)", "not JSON: \(error.reason)")
    case let error as ModelError:
      self.init(.badInput, at: path, "\(error)", remedy: "nothing was changed")
    case let error as LMDBError: self.init(error, store: path)
    case let error as StoreError: self.init(error, store: path)
    default: self.init(.failure, at: path, "\(error)")
    }
  }

  private init(_ error: StoreError, store path: String) {
    let (exitCode, remedy): (ExitCode, String) =
      switch error.code {
      case .noSuchNode, .noSuchCollection, .noSuchCursor, .indexOutOfRange:
        (.notThere, "nothing was changed")
      case .changesExpired: (.notThere, "read the nodes themselves")
      case .cyclicModel, .emptyIdentifier, .typeCollision, .invalidModel, .invalidIndex:
        (.badInput, "nothing was changed")
      case .invalidDump, .valueTaken: (.badInput, "")
      case .notAStore: (.failure, "look into its tables with: pando kv \(path) '' scan")
      case .damaged: (.failure, "run: pando verify \(path)")
      case .logLost, .forked: (.failure, "see: pando replica --help")
      default: (.failure, "")
      }
    let place = error.subject == path || "\(error)".hasPrefix(path) ? "" : path
    self.init(exitCode, at: place, "\(error)", remedy: remedy)
    if let underlying = error.underlying as? LMDBError, remedy.isEmpty {
      self.remedy = CommandError.remedy(for: underlying.code, path)
    }
  }

  private init(_ error: LMDBError, store path: String) {
    let detail = error.detail.isEmpty ? "" : ": \(error.detail)"
    self.init(
      error.code == .badKeySize ? .badInput : .failure, at: path,
      "\(error.code.explanation)\(detail) (\(error.function))",
      remedy: CommandError.remedy(for: error.code, path))
  }

  /// Returns the remedy for a failure of the engine.
  private static func remedy(for code: LMDBError.Code, _ path: String) -> String {
    switch code {
    case .invalidFile: "is this the right directory? if so, restore a copy"
    case .truncatedFile, .corrupted, .pageNotFound, .panic, .undecodable:
      "see what is damaged with: pando verify \(path)"
    case .versionMismatch: "the file belongs to another version of LMDB"
    case .diskFull: "make room on the disk; nothing was changed"
    case .fileTooLarge: "allow larger files (ulimit -f); nothing was changed"
    case .inputOutput: "see what the system says of the disk (dmesg); nothing was changed"
    case .mapFull, .mapInUse, .transactionFull: "nothing was changed; try again"
    case .readersFull: "end some of the processes that have the store open"
    case .readOnly:
      "check who owns the directory and its files, and their permissions (readers write lock.mdb)"
    case .noSuchFile: "check the path; the directory above the store must be there"
    case LMDBError.Code(rawValue: ENOTDIR): "a store is a directory; give another path"
    case .badKeySize: "nothing was changed"
    default: ""
    }
  }
}
