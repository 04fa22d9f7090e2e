/// An error that no caller receives, for a service to log.
///
/// ```swift
/// let container = try CoreManagerContainer(
///   entities: Book.self, diskStoreConfig: .path("data"),
///   events: { event in if event.kind == .undecodableEntity { print(event) } })
/// ```
public struct ManagerEvent: Sendable, CustomStringConvertible {
  /// The kind of event.
  public enum Kind: Sendable, Hashable {
    /// A background request failed; the caller has a local answer.
    case failedBackgroundRead
    /// A store failed in a read, and another one had the answer; or a nearer store failed in a write that the
    /// farthest local store has taken. Reads pass over that store until a later write reaches it.
    case failedStore
    /// A recovery store failed; the main store is not affected.
    case failedRecovery
    /// A followed query leaves out an entity that can't be decoded; the error is an `UndecodableRecord`.
    case undecodableEntity
    /// An element of a server's answer can't be read and was left out; the error is an `APIError`
    /// `malformedAnswer` with its position.
    case malformedElement
    /// A `DeletionRule` keeps an entity that the server has removed; the error is the `StoreError`
    /// `restricted`. The next synchronization tries again.
    case restrictedRemoval
    /// A followed query keeps more than 10 000 models; the error is a ``LongResult``. A limit, or
    /// ``FollowedQuery/keys``, keeps fewer.
    case longResult
    /// A query over at least 1 000 entities used no index; the error is a `QueryScan`. A container reports
    /// queries of a store that it has opened.
    case scannedQuery
  }

  /// The kind of event.
  public let kind: Kind
  /// The name of the entity type.
  public let typeName: String
  /// The error.
  public let error: any Error

  package init(_ kind: Kind, _ typeName: String, _ error: any Error) {
    self.kind = kind
    self.typeName = typeName
    self.error = error
  }

  /// One line: the entity type, the kind and the error.
  public var description: String { "\(typeName): \(kind): \(error)" }
}

/// Receives events; called on any thread, must not block.
public typealias ManagerEventHandler = @Sendable (ManagerEvent) -> Void
