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
