import PandoSystem
import PandoModels
import PandoStore

/// Who follows queries of one entity type, and which of them a changed entity may concern.
///
/// A query is found by the identifiers of what it shows, and by what its filter asks for:
///
/// | the filter | found by |
/// |---|---|
/// | names identifiers | these |
/// | `\.field == value && …` | field and value of the changed entity |
/// | anything else | every change of the type |
///
/// One whose entities are still being read is found by every change of the type.
final class QueryFollowers<E: Entity>: Sendable {
  /// A query that is not kept alive.
  fileprivate struct Entry: Sendable {
    weak let query: LiveQuery<E>?
    let key: FollowedKey
    /// The one of its values by which it is found.
    var place: FieldValue?
    /// The identifiers under which it is found.
    var identifiers: Set<ByteString> = []
  }

  fileprivate struct State {
    var entries: [UInt64: Entry] = [:]
    /// Queries that every change of the type may concern.
    var general: Set<UInt64> = []
    /// Queries whose entities are being read.
    var loading: Set<UInt64> = []
    var byIdentifier: [ByteString: Set<UInt64>] = [:]
    var byValue: [String: [QueryValue: Set<UInt64>]] = [:]
    var holdsNodes = false
  }

  private let state = Locked(State())

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
    if holdsNodes { return }
    var isHolder = false
    ModelChildren.forEachNode(of: entity) { _ in isHolder = true }
    if isHolder { state.withLock { $0.holdsNodes = true } }
  }

  /// Begins to find a query.
  func insert(_ query: LiveQuery<E>) {
    let key = query.followed.key
    state.withLock { state in
      let number = query.number
      state.entries[number] = Entry(query: query, key: key)
      state.loading.insert(number)
      switch key {
      case .identifiers(let identifiers): state.add(identifiers, to: number)
      case .values(let values): state.place(number, values)
      case .type: state.general.insert(number)
      }
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
      state.general.remove(number)
      state.leave(number)
      // Its reference is weak: letting the entry go ends nobody under the lock.
      state.entries[number] = nil
    }
  }

  /// Finds the queries that changes may concern, each with those changes.
  func concerned(by changes: [EntityChange<E>]) -> [(
    query: LiveQuery<E>, changes: [EntityChange<E>]
  )] {
    // The fields by whose values queries are found; calling users' key paths needs no lock.
    let fields = state.withLock { Array($0.byValue.keys) }
    let references = E.fields.filter { fields.contains($0.name) }
    var hits: [UInt64: [Int]] = [:]
    let values = changes.map { change in
      references.compactMap { field in
        change.entity.map { (field.name, field.value(of: $0.entity)) }
      }
    }
    let found = state.withLock { state in
      for (index, change) in changes.enumerated() {
        var numbers = state.byIdentifier[change.identifier] ?? []
        for (field, value) in values[index] {
          if let more = state.byValue[field]?[value] { numbers.formUnion(more) }
        }
        numbers.formUnion(state.general)
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
  /// How many queries are found by one value before it is asked whether others suit them better.
  private static var crowd: Int { 16 }

  /// Has a query found by the one of its values that the fewest others are found by.
  fileprivate mutating func place(_ number: UInt64, _ values: [FieldValue]) {
    guard let best = values.min(by: { count($0) < count($1) }) else { return }
    enter(number, best)
    let crowd = count(best)
    // Whoever came when another value was the better one may move now.
    guard crowd > Self.crowd, crowd.nonzeroBitCount == 1 else { return }
    for other in byValue[best.field]?[best.value] ?? [] {
      guard case .values(let values) = entries[other]?.key,
        let better = values.min(by: { count($0) < count($1) }), count(better) < crowd / 2
      else { continue }
      leave(other)
      enter(other, better)
    }
  }

  private func count(_ value: FieldValue) -> Int { byValue[value.field]?[value.value]?.count ?? 0 }

  private mutating func enter(_ number: UInt64, _ value: FieldValue) {
    byValue[value.field, default: [:]][value.value, default: []].insert(number)
    entries[number]?.place = value
  }

  /// Ends that a query is found by a value.
  fileprivate mutating func leave(_ number: UInt64) {
    guard let value = entries[number]?.place.take() else { return }
    byValue[value.field]?[value.value]?.remove(number)
    if byValue[value.field]?[value.value]?.isEmpty == true {
      byValue[value.field]?[value.value] = nil
    }
    if byValue[value.field]?.isEmpty == true { byValue[value.field] = nil }
  }

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
