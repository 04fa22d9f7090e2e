public import PandoManagers
import PandoSystem

/// A store of entities in memory, at any level, that remembers its calls and fails when it is told to.
///
/// ```swift
/// let server = StoreDouble<Book>(.remote, entities: [book])
/// let books = CoreManager<Book>(stores: [InMemoryStore(), server])
/// server.failure = Offline()
/// ```
///
/// It knows no order of writes: whoever writes last is right. Any thread may use it.
public final class StoreDouble<E: Entity>: Storing {
  /// A call.
  ///
  /// ```swift
  /// let books = CoreManager<Book>(stores: [server])
  /// let found = try await books.get(byID: .remote("7"), in: .remote())
  /// print(server.calls == [.get([.remote("7")])])  // true
  /// ```
  public enum Call: Equatable, Sendable {
    /// Entities were asked for by their identifiers.
    case get([EntityIdentifier<E>])
    /// Entities were searched.
    case search(Query<E>)
    /// Entities were set.
    case set([E])
    /// Entities were removed.
    case remove([EntityIdentifier<E>])
    /// What matches was removed.
    case removeAll(Query<E>)
  }

  private struct State {
    var entities: [E]
    var calls: [Call] = []
    var failure: (any Error)?
  }

  /// Where it stands in for a store.
  public let level: StoreLevel
  private let state: Locked<State>

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - level: Where it stands in for a store.
  ///   - entities: What it has.
  public init(_ level: StoreLevel = .remote, entities: [E] = []) {
    self.level = level
    state = Locked(State(entities: entities))
  }

  /// What it has, in the order in which it came.
  public var entities: [E] {
    get { state.withLock { $0.entities } }
    set { state.withLock { $0.entities = newValue } }
  }

  /// The calls so far, in order; failed ones are among them.
  public var calls: [Call] { state.withLock { $0.calls } }

  /// What every call throws; `nil` to answer.
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
  ///   - context: Does not matter.
  /// - Returns: Those that are there, in the order of the identifiers.
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
  ///   - context: Does not matter.
  /// - Returns: The entities, in the order of the query.
  /// - Throws: ``failure``; `QueryError`.
  public func search(
    withQuery query: Query<E>, in context: ReadContext<E>
  ) async throws -> QueryResult<E> {
    try perform(.search(query)) { try query.apply(to: $0) }
  }

  /// Keeps entities.
  ///
  /// - Parameters:
  ///   - entities: The new values.
  ///   - context: Does not matter.
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

  /// Lets go of entities.
  ///
  /// - Parameters:
  ///   - identifiers: Their identifiers.
  ///   - context: Does not matter.
  /// - Throws: ``failure``.
  public func remove(
    _ identifiers: [EntityIdentifier<E>], in context: WriteContext<E>
  ) async throws {
    try perform(.remove(identifiers)) { kept in
      kept.removeAll { identifiers.contains($0.id) }
    }
  }

  /// Lets go of all entities that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - context: Does not matter.
  /// - Returns: The identifiers of those that went.
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
