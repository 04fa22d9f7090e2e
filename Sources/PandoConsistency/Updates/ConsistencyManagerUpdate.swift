public import FoundationEssentials
public import PandoModels
import PandoSystem

/// One update as it was posted.
///
/// ```swift
/// func consistencyManager(
///   _ manager: ConsistencyManager, processed update: ConsistencyManagerUpdate
/// ) {
///   for change in update.changes { print(change.modelIdentifier, change.models) }
/// }
/// ```
public struct ConsistencyManagerUpdate: Sendable {
  /// The new models of one identifier.
  ///
  /// ```swift
  /// func consistencyManager(
  ///   _ manager: ConsistencyManager, processed update: ConsistencyManagerUpdate
  /// ) {
  ///   let people = update.changes.flatMap { $0.models.compactMap { $0 as? Person } }
  ///   print(people)
  /// }
  /// ```
  public struct Change: Sendable {
    /// The identifier.
    public let modelIdentifier: String
    /// The models, one a type, in traversal order.
    public let models: [any SimpleModel]
  }

  private let update: LiveUpdate

  init(_ update: LiveUpdate) { self.update = update }

  /// The top models that were given to the call.
  public var models: [any SimpleModel] { update.models }

  /// What the update carries, by identifier, sorted by the identifiers' bytes.
  ///
  /// - Complexity: O(*n* log *n*) for *n* identifiers.
  public var changes: [Change] {
    update.versions.ordered { $0.key < $1.key }.map { key, versions in
      Change(modelIdentifier: key.text, models: versions.stored + versions.given)
    }
  }

  /// The identifiers that were deleted, sorted by their bytes.
  public var deletedModelIdentifiers: [String] { update.deleted.ordered().map(\.text) }

  /// What the poster passed along.
  public var context: (any Sendable)? { update.context }

  /// When the change was made.
  public var date: Date { update.date }

  /// The commit behind the update; `nil` for one in memory only.
  public var changeSet: ChangeSet? { update.changeSet }

  /// Returns what the update carries for one identifier.
  ///
  /// - Parameter modelIdentifier: Compared byte by byte.
  /// - Returns: The models, one a type, in traversal order; empty if it carries none.
  public func models(forIdentifier modelIdentifier: String) -> [any SimpleModel] {
    guard let versions = update.versions[ByteString(modelIdentifier)] else { return [] }
    return versions.stored + versions.given
  }
}
