public import FoundationEssentials
public import PandoModels
import PandoSystem

/// One update, as the caller made it.
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
    /// The models, one for each type, in traversal order.
    public let models: [any SimpleModel]
  }

  private let update: LiveUpdate

  init(_ update: LiveUpdate) { self.update = update }

  /// The models that the caller passed.
  public var models: [any SimpleModel] { update.models }

  /// The models of the update, sorted by the bytes of their identifiers.
  ///
  /// - Complexity: O(*n* log *n*) for *n* identifiers.
  public var changes: [Change] {
    update.versions.ordered { $0.key < $1.key }.compactMap { key, versions in
      let models = versions.stored + versions.given
      return models.isEmpty ? nil : Change(modelIdentifier: key.text, models: models)
    }
  }

  /// The identifiers that were deleted, sorted by their bytes.
  public var deletedModelIdentifiers: [String] { update.deleted.ordered().map(\.text) }

  /// The context that the caller passed.
  public var context: (any Sendable)? { update.context }

  /// The time of the change.
  public var date: Date { update.date }

  /// The commit of the update; `nil` for an update in memory only.
  public var changeSet: ChangeSet? { update.changeSet }

  /// Returns the models of the update for one identifier.
  ///
  /// - Parameter modelIdentifier: An identifier, compared byte by byte.
  /// - Returns: The models, one for each type, in traversal order; empty if there are none.
  public func models(forIdentifier modelIdentifier: String) -> [any SimpleModel] {
    guard let versions = update.versions[ByteString(modelIdentifier)] else { return [] }
    return versions.stored + versions.given
  }
}
