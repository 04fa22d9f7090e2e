import PandoStore
import PandoSystem
import Synchronization

/// A command: one word after `pando`.
protocol Command: SendableMetatype {
  /// Name, arguments, options and help.
  static var declaration: CommandDeclaration { get }

  /// Runs the command.
  ///
  /// - Parameters:
  ///   - arguments: Parsed by ``declaration``.
  ///   - output: The output for results; the caller flushes it.
  /// - Throws: The error that ended the run, for ``CommandError/init(wrapping:store:)``.
  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws
}

/// The access of a command to its store.
enum StoreAccess {
  /// Reading: the store must exist; the command changes nothing in it or beside it.
  case read
  /// Changing a store that must exist.
  case change
  /// Writing; the command creates a missing store.
  case create

  /// Whether the command was given ``Option/assumingNoWriter``.
  static let assumesNoWriter = Atomic(false)

  /// Opens the store, runs `body` and closes the store again.
  ///
  /// - Parameters:
  ///   - path: The store's directory.
  ///   - subject: The command, for the error line of a damaged file.
  ///   - body: Uses the store.
  /// - Returns: The result of `body`.
  /// - Throws: A ``CommandError`` with ``ExitCode/notThere`` if a required store is missing; errors
  ///   of opening, closing and `body`.
  func open<Result>(
    _ path: String, for subject: CommandDeclaration,
    _ body: (ModelStore) async throws -> Result
  ) async throws -> Result {
    let store: ModelStore
    do {
      store = try open(path, for: subject)
    } catch {
      throw CommandError(wrapping: error, store: path)
    }
    let result: Result
    do {
      result = try await body(store)
    } catch let error as StandardOutput.Closed {
      await store.close()
      throw error
    } catch {
      await store.close()
      throw CommandError(wrapping: error, store: path)
    }
    await store.close()
    return result
  }

  private func open(
    _ path: String, for subject: CommandDeclaration
  ) throws -> ModelStore {
    if self != .create { try StoreAccess.requireStore(at: path) }
    SignalLine.prepare(for: "pando \(subject.name)", path: path)
    var configuration = ModelStore.Configuration()
    configuration.isReadOnly = self == .read
    configuration.assumingNoWriter = Self.assumesNoWriter.load(ordering: .relaxed)
    // The service and `pando retention` set the limits of the change log.
    configuration.raisesRetention = false
    return try ModelStore(path: path, configuration: configuration)
  }

  /// Checks that a store exists, without opening it.
  ///
  /// - Throws: A ``CommandError`` with ``ExitCode/notThere``.
  static func requireStore(at path: String) throws(CommandError) {
    guard !hasStore(at: path) else { return }
    throw CommandError(
      .notThere, at: path, "there is no store",
      remedy: "check the path, or create one with: pando import \(path) FILE")
  }

  /// Whether a store's file exists.
  ///
  /// It returns `true` for an inaccessible file, so that opening it reports the reason.
  static func hasStore(at path: String) -> Bool {
    // The call keeps no pointer; both texts outlive it.
    if unsafe access(path + "/data.mdb", F_OK) == 0 { return true }
    return errno != ENOENT && errno != ENOTDIR
  }
}
