/// What happens here to the answer of a server.
///
/// ```swift
/// let all = try await books.all(in: .remote(persistenceStrategy: .discardExtraLocalData))
/// let look = try await books.all(in: .remote(persistenceStrategy: .doNotPersist))
/// ```
public enum PersistenceStrategy: Sendable, Hashable {
  /// What happens to entities here that match the query and are not in a complete answer.
  ///
  /// ```swift
  /// let strategy = PersistenceStrategy.persist(.discardExtraLocalData)
  /// let all = try await books.all(in: .remote(persistenceStrategy: strategy))
  /// ```
  public enum ExtraLocalData: Sendable, Hashable {
    /// They stay.
    case retainExtraLocalData
    /// Those that came from the server and have not changed since go.
    case discardExtraLocalData
  }

  /// It goes to the caller only.
  case doNotPersist
  /// It is stored.
  case persist(ExtraLocalData)

  /// It is stored, and nothing is removed.
  public static var persist: PersistenceStrategy { .persist(.retainExtraLocalData) }

  /// It is stored, and what a complete answer lacks is removed.
  public static var discardExtraLocalData: PersistenceStrategy { .persist(.discardExtraLocalData) }

  /// It is stored, and nothing is removed.
  public static var retainExtraLocalData: PersistenceStrategy { .persist(.retainExtraLocalData) }
}

/// Whether a server has an entity as it is here.
///
/// ```swift
/// let state = try store.read { try $0.synchronizationState(of: book.id) }
/// if state == .refused { print("the server does not want it") }
/// ```
public enum SynchronizationState: String, Sendable, Codable, CaseIterable {
  /// A server has sent or confirmed it as it is here; fields that the server does not know may have changed since.
  case synced
  /// No write of it waits, and no server has said that it has it as it is here: it was written here only, in the
  /// context `local`, has changed here since, or its type kept something of that when an answer came.
  case unsynced
  /// Something was written here that the server does not have yet.
  case pending
  /// Something that the server has refused is still here; see `RemoteEntity.refusalPolicy`.
  case refused
}
