import PandoModels
import PandoStore
import PandoSystem

/// The followed queries of one entity type, found by the entities that may affect them.
///
/// A query is found by the identifiers that its window keeps or its filter names, and by the values of its
/// filter (``FilterIndex``). Every change of the type finds a query that is being loaded.
final class QueryFollowers<E: Queryable>: Sendable {
  /// A query, held weakly.
  fileprivate struct Entry: Sendable {
    weak let query: LiveQuery<E>?
    /// The identifiers by which it is found.
    var identifiers: Set<ByteString> = []
  }

  fileprivate struct State {
    var entries: [UInt64: Entry] = [:]
    var filters = FilterIndex()
    /// Queries that are being loaded.
    var loading: Set<UInt64> = []
    var byIdentifier: [ByteString: Set<UInt64>] = [:]
    var holdsNodes = false
  }

  private let state = Locked(State())
  /// Whether a change of any node may affect all queries, because they depend on parents of entities.
  let countsHolders: Bool

  init(countsHolders: Bool = false) { self.countsHolders = countsHolders }

  /// Whether no query is followed.
  var isEmpty: Bool { state.withLock { $0.entries.isEmpty } }

  /// The number of followed queries.
  var count: Int { state.withLock { $0.entries.count } }

  /// Whether an entity of the type was found to contain other nodes; a change inside such an entity changes
  /// it too.
  var holdsNodes: Bool { state.withLock { $0.holdsNodes } }

  /// Records whether an entity contains other nodes.
  func note(_ entity: E) {
    if !holdsNodes, entity.holdsNodes { noteHolders() }
  }

  /// Records that entities of the type may contain other nodes.
  func noteHolders() { state.withLock { $0.holdsNodes = true } }

  /// Adds a query.
  func insert(_ query: LiveQuery<E>) {
    let key = query.followed.key
    let looksIntoNodes = query.followed.looksIntoNodes
    state.withLock { state in
      if looksIntoNodes { state.holdsNodes = true }
      let number = query.number
      state.entries[number] = Entry(query: query)
      state.loading.insert(number)
      state.filters.insert(number, key)
      if case .identifiers(let identifiers) = key { state.add(identifiers, to: number) }
    }
  }

  /// Adds the identifiers of a window's new entities.
  ///
  /// - Parameters:
  ///   - changes: The new entities are among these; `nil` if that is unknown.
  ///   - window: The window.
  ///   - query: The query.
  func add(_ changes: [EntityChange<E>]?, in window: QueryWindow<E>, of query: LiveQuery<E>) {
    if case .type = query.followed.key { return }
    guard let changes else {
      return state.withLock { $0.add(window.identifiers, to: query.number) }
    }
    let kept = changes.map(\.identifier).filter { window.contains($0) }
    state.withLock { $0.add(kept, to: query.number) }
  }

  /// Removes the identifiers of entities that a window has lost.
  ///
  /// - Parameters:
  ///   - changes: The lost entities are among these; `nil` if that is unknown.
  ///   - window: The window.
  ///   - query: The query.
  func remove(_ changes: [EntityChange<E>]?, notIn window: QueryWindow<E>, of query: LiveQuery<E>) {
    let key = query.followed.key
    if case .type = key { return }
    let candidates: [ByteString]
    if let changes {
      candidates = changes.map(\.identifier).filter { !window.contains($0) }
    } else {
      let kept = Set(window.identifiers)
      candidates = state.withLock { state in
        state.entries[query.number].map { Array($0.identifiers.subtracting(kept)) } ?? []
      }
    }
    let gone = candidates.filter { !key.names($0) }
    state.withLock { $0.remove(gone, from: query.number) }
  }

  /// Records that a query has been loaded.
  func hasLoaded(_ query: LiveQuery<E>) {
    state.withLock { _ = $0.loading.remove(query.number) }
  }

  /// Removes a query.
  func remove(_ number: UInt64) {
    state.withLock { state in
      guard let entry = state.entries[number] else { return }
      state.remove(entry.identifiers, from: number)
      state.loading.remove(number)
      state.filters.remove(number)
      // The reference is weak, so no query is released under the lock.
      state.entries[number] = nil
    }
  }

  /// Whether a write affects one of the queries, or may.
  func concerns(_ touched: TouchedNodes, of namespace: ByteString) -> Bool {
    let present = state.withLock { state in
      (
        isEmpty: state.entries.isEmpty, isLoading: !state.loading.isEmpty,
        holdsNodes: state.holdsNodes, fields: state.filters.fields
      )
    }
    if present.isEmpty { return false }
    if countsHolders { return !touched.identifiers.isEmpty }
    // The parents of a changed node are unknown without a read.
    if present.holdsNodes, touched.hasUpdated { return true }
    for identifier in touched.identifiers where identifier.isIdentifier(of: namespace) {
      guard !present.isLoading, let entity = touched.entity(identifier, as: E.self) else {
        return true
      }
      // Key paths of user types are called outside the lock.
      let values = entity?.values(of: present.fields) ?? []
      let isFound = state.withLock {
        $0.byIdentifier[identifier] != nil || $0.filters.findsAny(values)
      }
      if isFound { return true }
    }
    return false
  }

  /// The nodes whose changes may affect a query.
  ///
  /// If all queries name their entities, only those need to be read: a change deep in a tree touches each
  /// parent.
  func concerning(_ identifiers: [ByteString]) -> [ByteString] {
    state.withLock { state in
      guard state.filters.isEmpty, state.loading.isEmpty else { return identifiers }
      return identifiers.filter { state.byIdentifier[$0] != nil }
    }
  }

  /// The queries that changes may affect, each with those changes.
  func concerned(by changes: [EntityChange<E>]) -> [(
    query: LiveQuery<E>, changes: [EntityChange<E>]
  )] {
    // Key paths of user types are called outside the lock.
    let fields = state.withLock { $0.filters.fields }
    let values = changes.map { $0.entity?.entity.values(of: fields) ?? [] }
    var hits: [UInt64: [Int]] = [:]
    let found = state.withLock { state in
      for (index, change) in changes.enumerated() {
        var numbers = state.byIdentifier[change.identifier] ?? []
        state.filters.find(values[index], into: &numbers)
        numbers.formUnion(state.loading)
        for number in numbers { hits[number, default: []].append(index) }
      }
      // The strong references are released outside the lock.
      return hits.map { number, indexes in (state.entries[number]?.query, indexes) }
    }
    return found.compactMap { query, indexes in
      query.map { ($0, indexes.map { changes[$0] }) }
    }
  }

  var all: [LiveQuery<E>] {
    state.withLock { state in state.entries.values.map(\.query) }.compactMap { $0 }
  }
}

extension QueryFollowers.State {
  fileprivate mutating func add(_ identifiers: some Sequence<ByteString>, to number: UInt64) {
    for identifier in identifiers {
      byIdentifier[identifier, default: []].insert(number)
      entries[number]?.identifiers.insert(identifier)
    }
  }

  fileprivate mutating func remove(_ identifiers: some Sequence<ByteString>, from number: UInt64) {
    for identifier in identifiers {
      byIdentifier[identifier]?.remove(number)
      if byIdentifier[identifier]?.isEmpty == true { byIdentifier[identifier] = nil }
      entries[number]?.identifiers.remove(identifier)
    }
  }
}
