/// Something that went wrong behind the back of every caller, for a service to log.
///
/// ```swift
/// let container = try CoreManagerContainer(
///   entities: Book.self, diskStoreConfig: .path("data"),
///   events: { event in if event.kind == .undecodableEntity { print(event) } })
/// ```
public struct ManagerEvent: Sendable, CustomStringConvertible {
  /// The kind of event.
  public enum Kind: Sendable, Hashable {
    /// The server could not be asked while a caller had its answer from here already.
    case failedBackgroundRead
    /// A store failed while another one had the answer.
    case failedStore
    /// A recovery store failed; the main store is not affected.
    case failedRecovery
    /// A followed query leaves out an entity that can't be decoded; the error is an `UndecodableRecord`.
    case undecodableEntity
    /// An element of a server's answer was left out, because it can't be read; the error is an `APIError`
    /// `malformedAnswer` that says where.
    case malformedElement
    /// The server has removed an entity whose removal a `DeletionRule` refuses here; the error is the
    /// `StoreError` `restricted`. The next synchronization tries it again.
    case restrictedRemoval
    /// No index has answered a query, and there were 1 000 entities or more; the error is a `QueryScan`. A
    /// container tells of those over a store that it has opened.
    case scannedQuery
  }

  /// The kind of event.
  public let kind: Kind
  /// The name of the entity type.
  public let typeName: String
  /// What went wrong.
  public let error: any Error

  package init(_ kind: Kind, _ typeName: String, _ error: any Error) {
    self.kind = kind
    self.typeName = typeName
    self.error = error
  }

  /// One line: the entity type and what went wrong.
  public var description: String { "\(typeName): \(kind): \(error)" }
}

/// Takes events; called on any thread, must not block.
public typealias ManagerEventHandler = @Sendable (ManagerEvent) -> Void
