/// The options of a read: the stores to read, in order, and the checks of the answer.
///
/// ```swift
/// let books = try await manager.search(withQuery: .all, in: .localOr(.remote()))
/// ```
public struct ReadContext<E: Entity>: Sendable {
  /// The stores to read.
  package indirect enum Source: Sendable {
    /// The local stores.
    case local
    /// The server.
    case remote(RemoteEndpoint<E>, PersistenceStrategy)
    /// The server; without a connection, or after an empty answer, the local stores.
    case remoteOrLocal(RemoteEndpoint<E>, PersistenceStrategy)
    /// The local stores; if their answer is insufficient, the source.
    case localOr(Source)
    /// The local stores and the source: in the background if the local stores have a sufficient answer.
    case localThen(Source)
    /// The local stores; the source if their answer is insufficient, and in the background if it is too old.
    case staleWhileRevalidate(maxAge: Duration, Source)
  }

  /// The stores to read.
  package let source: Source

  /// A condition for each entity of the answer; `nil` for none.
  public private(set) var contract: (any EntityContract<E>)?

  /// The check of the user's access; `nil` for no check.
  public private(set) var accessValidator: (any UserAccessValidating)?

  private init(
    _ source: Source, contract: (any EntityContract<E>)? = nil,
    accessValidator: (any UserAccessValidating)? = nil
  ) {
    self.source = source
    self.contract = contract
    self.accessValidator = accessValidator
  }

  /// The local stores.
  public static var local: ReadContext { ReadContext(.local) }

  /// The server.
  ///
  /// - Parameters:
  ///   - endpoint: The request to send.
  ///   - persistenceStrategy: How local stores use the answer.
  /// - Returns: The context.
  public static func remote(
    endpoint: RemoteEndpoint<E> = .derived, persistenceStrategy: PersistenceStrategy = .persist
  ) -> ReadContext { ReadContext(.remote(endpoint, persistenceStrategy)) }

  /// The server; without a connection, or after an empty answer, the local stores.
  ///
  /// - Parameters:
  ///   - endpoint: The request to send.
  ///   - persistenceStrategy: How local stores use the answer.
  /// - Returns: The context.
  public static func remoteOrLocal(
    endpoint: RemoteEndpoint<E> = .derived, persistenceStrategy: PersistenceStrategy = .persist
  ) -> ReadContext { ReadContext(.remoteOrLocal(endpoint, persistenceStrategy)) }

  /// The server; without a connection, or after an empty answer, the local stores.
  public static var remoteOrLocal: ReadContext { .remoteOrLocal() }

  /// The local stores if they have all identifiers, or for another query a match; else another context.
  ///
  /// - Parameter other: The context for the other case; its contract and its access validator apply.
  /// - Returns: The context.
  public static func localOr(_ other: ReadContext) -> ReadContext {
    ReadContext(
      .localOr(other.source), contract: other.contract, accessValidator: other.accessValidator)
  }

  /// As ``localOr(_:)``, but the other context is read in any case; continuous results receive its answer.
  ///
  /// - Parameter other: The other context; its contract and its access validator apply.
  /// - Returns: The context.
  public static func localThen(_ other: ReadContext) -> ReadContext {
    ReadContext(
      .localThen(other.source), contract: other.contract, accessValidator: other.accessValidator)
  }

  /// The local stores, else the server: `.localOr(.remote())`.
  public static var cacheFirst: ReadContext { .localOr(.remote()) }

  /// The server, else the local stores: ``remoteOrLocal``.
  public static var networkFirst: ReadContext { .remoteOrLocal }

  /// The local stores, refreshed in the background if the server's last answer is too old.
  ///
  /// ```swift
  /// let feed = try await posts.search(withQuery: newest, in: .staleWhileRevalidate(maxAge: .seconds(60)))
  /// ```
  /// | local answer | the server has answered within `maxAge` | else |
  /// |---|---|---|
  /// | sufficient | returned | returned, and a request is sent in the background |
  /// | insufficient | returned if it is all that the server had; else as at the right | a request is sent and awaited |
  ///
  /// The answer of a background request is stored, so continuous results receive it. The event handler
  /// receives its errors (``ManagerEvent`` `failedBackgroundRead`). The time of a stored answer counts for
  /// its query, or for each of its identifiers. The store keeps the newest times, at most 1 024 for each
  /// type; entities in memory have them in memory.
  ///
  /// - Parameters:
  ///   - maxAge: The greatest age of an answer, by this machine's clock; one from the future is too old.
  ///   - endpoint: The request to send.
  ///   - persistenceStrategy: How local stores use the answer; only a stored answer has an age.
  /// - Returns: The context.
  public static func staleWhileRevalidate(
    maxAge: Duration, endpoint: RemoteEndpoint<E> = .derived,
    persistenceStrategy: PersistenceStrategy = .persist
  ) -> ReadContext {
    ReadContext(
      .staleWhileRevalidate(maxAge: maxAge, .remote(endpoint, persistenceStrategy)))
  }

  /// The same context with a contract.
  ///
  /// A search goes on to the next store if an entity of its result breaks the contract; a followed query leaves
  /// the entity out (``EntityContract``).
  ///
  /// - Parameter contract: A condition for each entity of the answer.
  /// - Returns: The context.
  public func with(contract: any EntityContract<E>) -> ReadContext {
    var context = self
    context.contract = contract
    return context
  }

  /// The same context with a closure as its contract; see ``EntityContract``.
  ///
  /// - Parameter condition: Whether an entity meets the contract for a query.
  /// - Returns: The context.
  public func with(contract condition: @escaping @Sendable (E, Query<E>) -> Bool) -> ReadContext {
    with(contract: ClosureContract(condition))
  }

  /// The same context with an access validator.
  ///
  /// - Parameter accessValidator: The check of the user's access.
  /// - Returns: The context.
  public func with(accessValidator: any UserAccessValidating) -> ReadContext {
    var context = self
    context.accessValidator = accessValidator
    return context
  }

  /// The request to send; `nil` if the context names no server.
  public var endpoint: RemoteEndpoint<E>? { source.remote?.endpoint }

  /// The same checks with another source.
  package func with(source: Source) -> ReadContext {
    ReadContext(source, contract: contract, accessValidator: accessValidator)
  }

  /// The same source for another entity type, with the requests of that type, without a contract.
  func related<Other: Entity>(_ type: Other.Type) -> ReadContext<Other> {
    ReadContext<Other>(source.related(), accessValidator: accessValidator)
  }
}

extension ReadContext.Source {
  /// The request and how its answer is used; `nil` without a server.
  package var remote: (endpoint: RemoteEndpoint<E>, strategy: PersistenceStrategy)? {
    switch self {
    case .local: nil
    case .remote(let endpoint, let strategy), .remoteOrLocal(let endpoint, let strategy):
      (endpoint, strategy)
    case .localOr(let source), .localThen(let source), .staleWhileRevalidate(_, let source):
      source.remote
    }
  }

  /// The source after, or instead of, the local stores; `nil` without a server.
  var server: Self? {
    switch self {
    case .local: nil
    case .remote, .remoteOrLocal: self
    case .localOr(let source), .localThen(let source), .staleWhileRevalidate(_, let source):
      source.server
    }
  }

  func related<Other: Entity>() -> ReadContext<Other>.Source {
    switch self {
    case .local: .local
    case .remote(_, let strategy): .remote(.derived, strategy)
    case .remoteOrLocal(_, let strategy): .remoteOrLocal(.derived, strategy)
    case .localOr(let source): .localOr(source.related())
    case .localThen(let source): .localThen(source.related())
    case .staleWhileRevalidate(let maxAge, let source):
      .staleWhileRevalidate(maxAge: maxAge, source.related())
    }
  }
}

/// The request of a read or a write.
///
/// ```swift
/// let endpoint = RemoteEndpoint<Book>.request(
///   APIRequest(.get, "/books/popular"), payload: .under("books"))
/// let popular = try await books.all(in: .remote(endpoint: endpoint))
/// ```
public struct RemoteEndpoint<E: Entity>: Sendable {
  /// The request for the remote store; `nil` for the request that the entity type makes.
  package let request: (any Sendable)?
  /// A text that differs for different requests; `nil` for the request that the entity type makes.
  let key: String?

  package init(request: (any Sendable)?, key: String?) {
    self.request = request
    self.key = key
  }

  /// The request that the entity type makes.
  public static var derived: RemoteEndpoint { RemoteEndpoint(request: nil, key: nil) }
}
