/// How local stores use the answer of a server.
///
/// ```swift
/// let all = try await books.all(in: .remote(persistenceStrategy: .discardExtraLocalData))
/// let look = try await books.all(in: .remote(persistenceStrategy: .doNotPersist))
/// ```
public enum PersistenceStrategy: Sendable, Hashable {
  /// How local stores treat matches of the query that a complete answer lacks.
  ///
  /// ```swift
  /// let strategy = PersistenceStrategy.persist(.discardExtraLocalData)
  /// let all = try await books.all(in: .remote(persistenceStrategy: strategy))
  /// ```
  public enum ExtraLocalData: Sendable, Hashable {
    /// They stay.
    case retainExtraLocalData
    /// They are removed, except those that no server has sent and those that have changed since.
    case discardExtraLocalData
  }

  /// Return the answer to the caller and store nothing.
  case doNotPersist
  /// Store the answer.
  case persist(ExtraLocalData)

  /// Store the answer and remove nothing.
  public static var persist: PersistenceStrategy { .persist(.retainExtraLocalData) }

  /// Store the answer and remove entities that a complete answer lacks.
  public static var discardExtraLocalData: PersistenceStrategy { .persist(.discardExtraLocalData) }

  /// Store the answer and remove nothing.
  public static var retainExtraLocalData: PersistenceStrategy { .persist(.retainExtraLocalData) }
}

/// Whether a server has the stored value of an entity.
///
/// ```swift
/// let state = try store.read { try $0.synchronizationState(of: book.id) }
/// if state == .refused { print("the server has refused it") }
/// ```
public enum SynchronizationState: String, Sendable, Codable, CaseIterable {
  /// A server has sent or confirmed the stored value; fields that the server lacks may have changed since.
  case synced
  /// No write waits, and no server has confirmed the stored value.
  ///
  /// It was written in the context `local`, or its type merged an answer into an older value.
  case unsynced
  /// A write waits for the server.
  case pending
  /// A refused write waits for a decision by the program; see `RemoteEntity.refusalPolicy`.
  case refused
}
