/// How a manager reads: which stores it asks, in which order, and what the answer must fulfil.
///
/// ```swift
/// let books = try await manager.search(withQuery: .all, in: .localOr(.remote()))
/// ```
public struct ReadContext<E: Entity>: Sendable {
  /// Which stores are asked.
  public indirect enum Source: Sendable {
    /// The local stores.
    case local
    /// The server.
    case remote(RemoteEndpoint<E>, PersistenceStrategy)
    /// The server; without connection, or if it has nothing, the local stores.
    case remoteOrLocal(RemoteEndpoint<E>, PersistenceStrategy)
    /// The local stores; if they have too little, what is given.
    case localOr(Source)
    /// The local stores, and what is given in any case: behind the caller's back if the local stores
    /// have enough.
    case localThen(Source)
    /// The local stores; if they have too little, what is given, and behind the caller's back if it has
    /// not answered for so long.
    case staleWhileRevalidate(maxAge: Duration, Source)
  }

  /// Which stores are asked.
  public let source: Source

  /// What every entity of the answer must fulfil; `nil` for nothing.
  public private(set) var contract: (any EntityContract<E>)?

  /// What the user may see; `nil` if nobody has to be asked.
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
  ///   - endpoint: Which request is made.
  ///   - persistenceStrategy: What happens here to the answer.
  /// - Returns: The context.
  public static func remote(
    endpoint: RemoteEndpoint<E> = .derived, persistenceStrategy: PersistenceStrategy = .persist
  ) -> ReadContext { ReadContext(.remote(endpoint, persistenceStrategy)) }

  /// The server; without connection, or if its answer is empty, the local stores.
  ///
  /// - Parameters:
  ///   - endpoint: Which request is made.
  ///   - persistenceStrategy: What happens here to the answer.
  /// - Returns: The context.
  public static func remoteOrLocal(
    endpoint: RemoteEndpoint<E> = .derived, persistenceStrategy: PersistenceStrategy = .persist
  ) -> ReadContext { ReadContext(.remoteOrLocal(endpoint, persistenceStrategy)) }

  /// The server; without connection, or if its answer is empty, the local stores.
  public static var remoteOrLocal: ReadContext { .remoteOrLocal() }

  /// The local stores if they have as many as identifiers were asked for, or, for other queries, at
  /// least one; else another context.
  ///
  /// - Parameter other: What is asked otherwise; its contract and its access validator count.
  /// - Returns: The context.
  public static func localOr(_ other: ReadContext) -> ReadContext {
    ReadContext(
      .localOr(other.source), contract: other.contract, accessValidator: other.accessValidator)
  }

  /// As ``localOr(_:)``, but the other context is asked in any case; its answer reaches those who
  /// follow continuously.
  ///
  /// - Parameter other: What is asked; its contract and its access validator count.
  /// - Returns: The context.
  public static func localThen(_ other: ReadContext) -> ReadContext {
    ReadContext(
      .localThen(other.source), contract: other.contract, accessValidator: other.accessValidator)
  }

  /// What is here, else what the server has: `.localOr(.remote())`.
  public static var cacheFirst: ReadContext { .localOr(.remote()) }

  /// What the server has, else what is here: ``remoteOrLocal``.
  public static var networkFirst: ReadContext { .remoteOrLocal }

  /// What is here, asked for again behind the caller's back where it is older than that:
  /// `.localThen(.remote())` that leaves the server alone while its last answer is young enough.
  ///
  /// ```swift
  /// let feed = try await posts.search(withQuery: newest, in: .staleWhileRevalidate(maxAge: .seconds(60)))
  /// ```
  /// | here is | the server has answered within `maxAge` | else |
  /// |---|---|---|
  /// | enough | it is given | it is given, and the server is asked behind the caller's back |
  /// | too little | it is given if the server had no more, else the server is waited for | the server is waited for |
  ///
  /// What the server answers then is stored, and so reaches those who follow; an error of it is told to the
  /// event handler (``ManagerEvent`` `failedBackgroundRead`). Each stored answer counts for the query that it
  /// was asked for, and for each identifier of one by identifiers; the times of the newest ones, 1 024 of
  /// each type at most, are kept in the store, for what is in memory in memory.
  ///
  /// - Parameters:
  ///   - maxAge: How old an answer may be, by the clock of this machine; an answer from the future is too old.
  ///   - endpoint: Which request is made.
  ///   - persistenceStrategy: What happens here to the answer; one that is not stored has no age.
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
  /// - Parameter contract: What every entity of the answer must fulfil.
  /// - Returns: The context.
  public func with(contract: any EntityContract<E>) -> ReadContext {
    var context = self
    context.contract = contract
    return context
  }

  /// The same context with an access validator.
  ///
  /// - Parameter accessValidator: Says what the user may see.
  /// - Returns: The context.
  public func with(accessValidator: any UserAccessValidating) -> ReadContext {
    var context = self
    context.accessValidator = accessValidator
    return context
  }

  /// The request that is made; `nil` if none is.
  public var endpoint: RemoteEndpoint<E>? { source.remote?.endpoint }

  /// The same checks over other stores.
  package func with(source: Source) -> ReadContext {
    ReadContext(source, contract: contract, accessValidator: accessValidator)
  }

  /// The same for entities of another type: with the requests that their type makes, without a contract.
  func related<Other: Entity>(_ type: Other.Type) -> ReadContext<Other> {
    ReadContext<Other>(source.related(), accessValidator: accessValidator)
  }
}

extension ReadContext.Source {
  /// The request and what happens to its answer; `nil` if none is made.
  package var remote: (endpoint: RemoteEndpoint<E>, strategy: PersistenceStrategy)? {
    switch self {
    case .local: nil
    case .remote(let endpoint, let strategy), .remoteOrLocal(let endpoint, let strategy):
      (endpoint, strategy)
    case .localOr(let source), .localThen(let source), .staleWhileRevalidate(_, let source):
      source.remote
    }
  }

  /// What is asked after the local stores, or in their place; `nil` if no server is.
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

/// Which request a read or a write makes.
///
/// ```swift
/// let endpoint = RemoteEndpoint<Book>.request(
///   APIRequest(.get, "/books/popular"), payload: .under("books"))
/// let popular = try await books.all(in: .remote(endpoint: endpoint))
/// ```
public struct RemoteEndpoint<E: Entity>: Sendable {
  /// What the remote store makes its request from; `nil` for what the entity type says.
  package let request: (any Sendable)?
  /// A text that is another one for another request; `nil` for what the entity type says.
  let key: String?

  package init(request: (any Sendable)?, key: String?) {
    self.request = request
    self.key = key
  }

  /// What the entity type says.
  public static var derived: RemoteEndpoint { RemoteEndpoint(request: nil, key: nil) }
}
