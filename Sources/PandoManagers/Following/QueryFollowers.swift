import PandoModels
import PandoStore
import PandoSystem

/// Who follows queries of one entity type, and which of them a changed entity may concern.
///
/// A query is found by the identifiers of what it shows or names, and by what its filter asks for: see
/// ``FilterIndex``.
///
/// One whose entities are still being read is found by every change of the type.
final class QueryFollowers<E: Queryable>: Sendable {
  /// A query that is not kept alive.
  fileprivate struct Entry: Sendable {
    weak let query: LiveQuery<E>?
    /// The identifiers under which it is found.
    var identifiers: Set<ByteString> = []
  }

  fileprivate struct State {
    var entries: [UInt64: Entry] = [:]
    var filters = FilterIndex()
    /// Queries whose entities are being read.
    var loading: Set<UInt64> = []
    var byIdentifier: [ByteString: Set<UInt64>] = [:]
    var holdsNodes = false
  }

  private let state = Locked(State())
  /// Whether any change may concern all queries, whatever node it is of: who holds an entity counts.
  let countsHolders: Bool

  init(countsHolders: Bool = false) { self.countsHolders = countsHolders }

  /// Whether nobody follows anything.
  var isEmpty: Bool { state.withLock { $0.entries.isEmpty } }

  /// How many queries are followed.
  var count: Int { state.withLock { $0.entries.count } }

  /// Whether entities of the type have other nodes inside, as far as is known.
  ///
  /// A change inside such an entity changes it too.
  var holdsNodes: Bool { state.withLock { $0.holdsNodes } }

  /// Looks whether an entity has other nodes inside.
  func note(_ entity: E) {
    if !holdsNodes, entity.holdsNodes { noteHolders() }
  }

  /// Notes that entities of the type may have other nodes inside.
  func noteHolders() { state.withLock { $0.holdsNodes = true } }

  /// Begins to find a query.
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

  /// Finds a query by what it keeps from now on too.
  ///
  /// - Parameters:
  ///   - changes: What has come in is among these; `nil` if it can be anything.
  ///   - window: What it keeps.
  ///   - query: The query.
  func add(_ changes: [EntityChange<E>]?, in window: QueryWindow<E>, of query: LiveQuery<E>) {
    if case .type = query.followed.key { return }
    guard let changes else {
      return state.withLock { $0.add(window.identifiers, to: query.number) }
    }
    let kept = changes.map(\.identifier).filter { window.contains($0) }
    state.withLock { $0.add(kept, to: query.number) }
  }

  /// Finds a query no longer by what it does not keep any more.
  ///
  /// - Parameters:
  ///   - changes: What has left is among these; `nil` if it can be anything.
  ///   - window: What it keeps.
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

  /// Says that the entities of a query have been read.
  func hasLoaded(_ query: LiveQuery<E>) {
    state.withLock { _ = $0.loading.remove(query.number) }
  }

  /// Forgets a query.
  func remove(_ number: UInt64) {
    state.withLock { state in
      guard let entry = state.entries[number] else { return }
      state.remove(entry.identifiers, from: number)
      state.loading.remove(number)
      state.filters.remove(number)
      // Its reference is weak: letting the entry go ends nobody under the lock.
      state.entries[number] = nil
    }
  }

  /// Whether a write concerns one of the queries, or may.
  func concerns(_ touched: TouchedNodes, of namespace: ByteString) -> Bool {
    let present = state.withLock { state in
      (
        isEmpty: state.entries.isEmpty, isLoading: !state.loading.isEmpty,
        holdsNodes: state.holdsNodes, fields: state.filters.fields
      )
    }
    if present.isEmpty { return false }
    if countsHolders { return !touched.identifiers.isEmpty }
    // Whoever holds a changed node inside is not known without a read.
    if present.holdsNodes, touched.hasUpdated { return true }
    for identifier in touched.identifiers where identifier.isIdentifier(of: namespace) {
      guard !present.isLoading, let entity = touched.entity(identifier, as: E.self) else {
        return true
      }
      // Calling users' key paths needs no lock.
      let values = entity?.values(of: present.fields) ?? []
      let isFound = state.withLock {
        $0.byIdentifier[identifier] != nil || $0.filters.findsAny(values)
      }
      if isFound { return true }
    }
    return false
  }

  /// Those of some nodes whose changes may concern a query.
  ///
  /// Where all queries ask by name, all but the named ones need not be read: a change deep in a tree
  /// touches each node above it.
  func concerning(_ identifiers: [ByteString]) -> [ByteString] {
    state.withLock { state in
      guard state.filters.isEmpty, state.loading.isEmpty else { return identifiers }
      return identifiers.filter { state.byIdentifier[$0] != nil }
    }
  }

  /// Finds the queries that changes may concern, each with those changes.
  func concerned(by changes: [EntityChange<E>]) -> [(
    query: LiveQuery<E>, changes: [EntityChange<E>]
  )] {
    // The fields by whose values queries are found; calling users' key paths needs no lock.
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
      // Strong references leave the lock with this list, and end outside.
      return hits.map { number, indexes in (state.entries[number]?.query, indexes) }
    }
    return found.compactMap { query, indexes in
      query.map { ($0, indexes.map { changes[$0] }) }
    }
  }

  /// All queries.
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
