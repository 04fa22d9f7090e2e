public import PandoManagers
import PandoSystem

/// A store of entities in memory, for any level, that records its calls and can fail them.
///
/// ```swift
/// let server = StoreDouble<Book>(.remote, entities: [book])
/// let books = CoreManager<Book>(stores: [InMemoryStore(), server])
/// server.failure = Offline()
/// ```
///
/// It keeps no order of writes: the last write wins. Any thread may use it.
public final class StoreDouble<E: Entity>: Storing {
  /// A call of the store.
  ///
  /// ```swift
  /// let books = CoreManager<Book>(stores: [server])
  /// let found = try await books.get(byID: .remote("7"), in: .remote())
  /// print(server.calls == [.get([.remote("7")])])  // true
  /// ```
  public enum Call: Equatable, Sendable {
    /// A get by identifiers.
    case get([EntityIdentifier<E>])
    /// A search.
    case search(Query<E>)
    /// A set of entities.
    case set([E])
    /// A removal by identifiers.
    case remove([EntityIdentifier<E>])
    /// A removal of all entities that match a query.
    case removeAll(Query<E>)
  }

  private struct State {
    var entities: [E]
    var calls: [Call] = []
    var failure: (any Error)?
  }

  /// The level that the double represents.
  public let level: StoreLevel
  private let state: Locked<State>

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - level: The level that the double represents.
  ///   - entities: The initial entities.
  public init(_ level: StoreLevel = .remote, entities: [E] = []) {
    self.level = level
    state = Locked(State(entities: entities))
  }

  /// The entities, in the order of their first set.
  public var entities: [E] {
    get { state.withLock { $0.entities } }
    set { state.withLock { $0.entities = newValue } }
  }

  /// The calls so far, in order, including the failed ones.
  public var calls: [Call] { state.withLock { $0.calls } }

  /// The error of every call; `nil` to answer calls.
  public var failure: (any Error)? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  private func perform<Result>(
    _ call: Call, _ body: (inout [E]) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      state.calls.append(call)
      if let failure = state.failure { throw failure }
      return try body(&state.entities)
    }
  }

  /// Returns entities by their identifiers.
  ///
  /// - Parameters:
  ///   - query: A query by identifiers.
  ///   - context: Ignored.
  /// - Returns: The entities found, in the order of the identifiers.
  /// - Throws: ``failure``.
  public func get(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    let identifiers = query.identifiers ?? []
    return try perform(.get(identifiers)) { entities in
      QueryResult(identifiers.compactMap { id in entities.first { $0.id == id } })
    }
  }

  /// Returns the entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Ignored.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: ``failure``; `QueryError`.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    try perform(.search(query)) { try query.apply(to: $0) }
  }

  /// Stores entities.
  ///
  /// - Parameters:
  ///   - entities: The new values.
  ///   - context: Ignored.
  /// - Returns: The entities.
  /// - Throws: ``failure``.
  public func set(_ entities: [E], in context: WriteContext<E>) async throws -> [E] {
    try perform(.set(entities)) { kept in
      for entity in entities {
        if let index = kept.firstIndex(where: { $0.id == entity.id }) {
          kept[index] = entity
        } else {
          kept.append(entity)
        }
      }
      return entities
    }
  }

  /// Removes entities.
  ///
  /// - Parameters:
  ///   - identifiers: Their identifiers.
  ///   - context: Ignored.
  /// - Throws: ``failure``.
  public func remove(
    _ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws {
    try perform(.remove(identifiers)) { kept in
      kept.removeAll { identifiers.contains($0.id) }
    }
  }

  /// Removes all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Ignored.
  /// - Returns: The identifiers of the removed entities.
  /// - Throws: ``failure``; `QueryError`.
  public func removeAll(
    withQuery query: Query<E>, in context: WriteContext<E>
  ) async throws -> [EntityIdentifier<E>] {
    try perform(.removeAll(query)) { kept in
      let gone = try query.apply(to: kept).entities.map(\.id)
      kept.removeAll { gone.contains($0.id) }
      return gone
    }
  }
}
