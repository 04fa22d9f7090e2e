import PandoModels
import PandoStore
import PandoSystem

/// The views that an entity of one type may enter, for any type.
protocol AnyTypeViews: AnyObject, Sendable {
  /// Whether changes of other nodes may affect the views, because they depend on other rows of the store.
  var dependOnOthers: Bool { get }
  /// The numbers of all views.
  var numbers: Set<UInt64> { get }
  /// Whether a change of a node inside an entity of the type may change a view.
  var holdsNodes: Bool { get }

  func remove(_ number: UInt64)

  /// Whether some changed nodes may affect a view with `dependOnOthers`.
  func dependOn(_ nodes: some Collection<ByteString>) -> Bool

  /// The views with `dependOnOthers` that some changed nodes may affect, each with these nodes; `nil` if it must be loaded
  /// again.
  func views(dependingOn nodes: some Collection<ByteString>) -> [UInt64: [ByteString]?]

  /// Sets the value behind which no entity enters a view with an `order` key: ``FilterIndex/setLast(_:of:widens:)``.
  func setLast(_ last: QueryValue?, of number: UInt64, widens: Bool)

  /// Sets whether a view is found by every change of the type.
  func setTakesAll(_ takesAll: Bool, of number: UInt64)

  /// Whether a node of a namespace in some writes may enter a view, or has to be read to find out.
  func mayTake(_ writes: [CommitEffects], in namespace: ByteString) -> Bool

  /// Adds the views that a written node may enter.
  ///
  /// - Returns: `false` if the node has to be read to find out.
  func find(
    _ identifier: ByteString, of touched: TouchedNodes, into numbers: inout Set<UInt64>
  ) -> Bool

  /// Adds the views that a touched node may enter.
  func find(
    _ identifier: ByteString, _ reads: inout EntityReads, _ snapshot: ModelSnapshot,
    into numbers: inout Set<UInt64>)

  func checkInvariants()
  func bound(of number: UInt64) -> FieldRange?
}

/// The views that an entity of one type may enter, found by the values in their filters.
///
/// A view that keeps an entity is found by its node (``ViewIndex``).
final class TypeViews<E: Queryable>: AnyTypeViews {
  private let state = Locked(TypeViewsState())
  let dependOnOthers: Bool

  init(dependOnOthers: Bool = false) { self.dependOnOthers = dependOnOthers }

  var numbers: Set<UInt64> { state.withLock { $0.numbers } }
  var holdsNodes: Bool { state.withLock { $0.holdsNodes && !$0.numbers.isEmpty } }

  func insert(_ number: UInt64, _ followed: AcceptedQuery<E>) {
    let looksIntoNodes = followed.looksIntoNodes
    state.withLock { state in
      if looksIntoNodes { state.holdsNodes = true }
      state.numbers.insert(number)
      if dependOnOthers { state.setNamespaces(followed.namespaces, of: number) }
      if followed.countsModels { state.counting.insert(number) }
      state.filters.insert(number, followed.key)
    }
  }

  func remove(_ number: UInt64) {
    state.withLock { state in
      state.numbers.remove(number)
      state.setNamespaces(nil, of: number)
      state.counting.remove(number)
      state.filters.remove(number)
    }
  }

  func dependOn(_ nodes: some Collection<ByteString>) -> Bool {
    if !dependOnOthers || nodes.isEmpty { return false }
    let (dependOnAll, viewCounts) = state.withLock {
      ($0.numbers.count > $0.namespaces.count, $0.viewCounts)
    }
    return dependOnAll
      || viewCounts.keys.contains { name in nodes.contains { $0.isIdentifier(of: name) } }
  }

  func views(dependingOn nodes: some Collection<ByteString>) -> [UInt64: [ByteString]?] {
    let (numbers, namespaces, viewCounts, counting) = state.withLock {
      ($0.numbers, $0.namespaces, $0.viewCounts, $0.counting)
    }
    if !dependOnOthers || numbers.isEmpty || nodes.isEmpty { return [:] }
    var changed: [ByteString: [ByteString]] = [:]
    for namespace in viewCounts.keys {
      let own = nodes.filter { $0.isIdentifier(of: namespace) }
      if !own.isEmpty { changed[namespace] = own }
    }
    var found: [UInt64: [ByteString]?] = [:]
    for number in numbers {
      guard let own = namespaces[number] else {
        found[number] = .some(nil)
        continue
      }
      let concerned = own.filter { changed[$0] != nil }
      if concerned.isEmpty { continue }
      let nodes = Set(concerned.flatMap { changed[$0] ?? [] })
      found[number] = .some(counting.contains(number) ? nodes.ordered() : nil)
    }
    return found
  }

  func setLast(_ last: QueryValue?, of number: UInt64, widens: Bool) {
    state.withLock { $0.filters.setLast(last, of: number, widens: widens) }
  }

  func setTakesAll(_ takesAll: Bool, of number: UInt64) {
    state.withLock { $0.filters.setTakesAll(takesAll, of: number) }
  }

  /// Records whether an entity contains other nodes.
  func note(_ entity: E) {
    if !state.withLock({ $0.holdsNodes }), entity.holdsNodes { noteHolders() }
  }

  /// Records whether entities of a window contain other nodes; if it has none, those of a stored entity.
  func note(_ entities: some Collection<E>, _ snapshot: ModelSnapshot) {
    for entity in entities { note(entity) }
    if entities.isEmpty, let other = snapshot.example(of: E.self) { note(other) }
  }

  /// Records that entities of the type may contain other nodes.
  func noteHolders() { state.withLock { $0.holdsNodes = true } }

  func find(
    _ identifier: ByteString, of touched: TouchedNodes, into numbers: inout Set<UInt64>
  ) -> Bool {
    let (isEmpty, fields) = state.withLock { ($0.filters.isEmpty, $0.filters.fields) }
    if isEmpty { return true }
    guard let entity = touched.entity(identifier, as: E.self) else { return false }
    if let entity, touched.mayHoldNodes { note(entity) }
    find(entity, fields, into: &numbers)
    return true
  }

  func mayTake(_ writes: [CommitEffects], in namespace: ByteString) -> Bool {
    if dependOnOthers {
      return writes.contains {
        dependOn($0.nodes) || $0.hasUpdated && holdsNodes
      }
    }
    let (isEmpty, takesAll, names) = state.withLock { state in
      (state.filters.isEmpty, state.filters.takesAll, state.filters.fields)
    }
    let fields = E.fields.filter { names.contains($0.name) }
    var values: [FieldValue] = []
    for write in writes where !isEmpty {
      guard write.nodes.contains(where: { $0.isIdentifier(of: namespace) }) else { continue }
      if takesAll { return true }
      let touched = TouchedNodes(write)
      for node in write.nodes where node.isIdentifier(of: namespace) {
        guard let entity = touched.entity(node, as: E.self) else { return true }
        guard let entity else { continue }
        if touched.mayHoldNodes { note(entity) }
        // Key paths of user types are called outside the lock.
        entity.appendValues(of: fields, to: &values)
      }
    }
    if state.withLock({ $0.filters.fields != names || $0.filters.findsAny(values) }) { return true }
    // The parents of a changed node are unknown without a read.
    return holdsNodes && writes.contains { $0.hasUpdated }
  }

  func find(
    _ identifier: ByteString, _ reads: inout EntityReads, _ snapshot: ModelSnapshot,
    into numbers: inout Set<UInt64>
  ) {
    let (isEmpty, fields) = state.withLock { ($0.filters.isEmpty, $0.filters.fields) }
    if isEmpty { return }
    if fields.isEmpty { return find(nil, fields, into: &numbers) }
    switch reads.entity(identifier, as: E.self, in: snapshot) {
    case .success(let entity):
      if let entity { note(entity.entity) }
      find(entity?.entity, fields, into: &numbers)
    case .failure: numbers.formUnion(self.numbers)
    }
  }

  /// Adds the views that a touched entity may enter; `nil` for a removed one.
  func find(_ entity: E?, into numbers: inout Set<UInt64>) {
    find(entity, state.withLock { $0.filters.fields }, into: &numbers)
  }

  private func find(_ entity: E?, _ fields: [String], into numbers: inout Set<UInt64>) {
    var fields = fields
    while true {
      var values: [FieldValue] = []
      // Key paths of user types are called outside the lock.
      entity?.appendValues(of: E.fields.filter { fields.contains($0.name) }, to: &values)
      let changed = state.withLock { state -> [String]? in
        // A view that began meanwhile may have moved others to a field whose value was not read.
        if entity != nil, state.filters.fields != fields { return state.filters.fields }
        state.filters.find(values, into: &numbers)
        return nil
      }
      guard let changed else { return }
      fields = changed
    }
  }
}

/// Not generic, because the compiler specializes no code for it otherwise.
private struct TypeViewsState {
  var numbers: Set<UInt64> = []
  /// The views that keep counts of other models.
  var counting: Set<UInt64> = []
  /// The namespaces of the nodes on which views with `dependOnOthers` depend; a view without an entry depends on all.
  private(set) var namespaces: [UInt64: Set<ByteString>] = [:]
  /// The number of these views for each of their namespaces.
  private(set) var viewCounts: [ByteString: Int] = [:]
  var filters = FilterIndex()
  var holdsNodes = false

  mutating func setNamespaces(_ new: Set<ByteString>?, of number: UInt64) {
    for name in namespaces[number] ?? [] {
      let count = viewCounts[name, default: 0] - 1
      viewCounts[name] = count > 0 ? count : nil
    }
    namespaces[number] = new
    for name in new ?? [] { viewCounts[name, default: 0] += 1 }
  }
}

extension TypeViews {
  /// Stops the process if the filters have other views than the type.
  func checkInvariants() { state.withLock { $0.filters.checkInvariants($0.numbers) } }

  func bound(of number: UInt64) -> FieldRange? { state.withLock { $0.filters.bound(of: number) } }
}

extension Queryable {
  /// Whether it contains other nodes.
  fileprivate var holdsNodes: Bool {
    var isHolder = false
    ModelChildren.forEachNode(of: self) { _ in isHolder = true }
    return isHolder
  }
}
