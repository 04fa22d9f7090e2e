import PandoStore
import PandoSystem
import Synchronization

/// One word after `pando` and what it does.
protocol Command: SendableMetatype {
  /// Name, arguments, options and help.
  static var declaration: CommandDeclaration { get }

  /// Does the work.
  ///
  /// - Parameters:
  ///   - arguments: Parsed by ``declaration``.
  ///   - output: Where results go; flushed by the caller.
  /// - Throws: What ended the work; ``CommandError/init(_:store:)`` makes one line of it.
  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws
}

/// How a command opens its store.
enum StoreAccess {
  /// For reading: the store must be there, and nothing in it or beside it is changed.
  case read
  /// For changing a store that must be there.
  case change
  /// For writing; the store is created when it is not there.
  case create

  /// Whether the command was given ``Option/assumingNoWriter``.
  static let assumesNoWriter = Atomic(false)

  /// Opens the store, runs `body` and closes the store again.
  ///
  /// - Parameters:
  ///   - path: The store's directory.
  ///   - subject: The command, for the line that a damaged file leads to.
  ///   - body: What to do with the store.
  /// - Returns: What `body` returns.
  /// - Throws: A ``CommandError`` with ``ExitCode/notThere`` when the store must be there and is
  ///   not, and what opening, closing and `body` throw.
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
    // How much of the change log is kept is for the service to say, and for `pando retention`.
    configuration.raisesRetention = false
    return try ModelStore(path: path, configuration: configuration)
  }

  /// Checks that there is a store, without touching it.
  ///
  /// - Throws: A ``CommandError`` with ``ExitCode/notThere``.
  static func requireStore(at path: String) throws(CommandError) {
    guard !hasStore(at: path) else { return }
    throw CommandError(
      .notThere, at: path, "there is no store",
      remedy: "check the path, or create one with: pando import \(path) FILE")
  }

  /// Whether there is a store's file.
  ///
  /// One that cannot be looked at is taken to be there, so that opening it says why.
  static func hasStore(at path: String) -> Bool {
    // The call copies nothing out; both texts live until it returns.
    if unsafe access(path + "/data.mdb", F_OK) == 0 { return true }
    return errno != ENOENT && errno != ENOTDIR
  }
}
