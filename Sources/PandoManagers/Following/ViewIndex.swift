import PandoModels
import PandoProviders
import PandoStore
import PandoSystem

/// The followed queries and graphs over one store or memory, found by the nodes that may change them.
///
/// | a view | is found by |
/// |---|---|
/// | keeps or names a node | that node |
/// | has a filter, or an order and a limit | the values of a changed entity (``TypeViews``) |
/// | has ranges only, and keeps very many nodes | every change of its type |
/// | is being loaded | each node of its namespace; a graph, each node |
///
/// The ``FollowedKey`` of a query says which rows apply.
final class ViewIndex: Sendable {
  fileprivate struct Entry: Sendable {
    weak let view: (any LiveView)?
    /// The views of its type; `nil` if it is found by nodes only.
    let type: (any AnyTypeViews)?
    /// The namespace of the nodes that count while it is being loaded; the empty one has all.
    let namespace: ByteString
  }

  fileprivate struct State {
    var entries: [UInt64: Entry] = [:]
    var nodes = InvertedIndex<ByteString, UInt64>()
    /// The views with too many nodes for `nodes`.
    var broad: Set<UInt64> = []
    /// The views that are being loaded, by namespace.
    var loading: [ByteString: Set<UInt64>] = [:]
    /// By the namespace of identifiers; several types can share one.
    var types: [ByteString: [any AnyTypeViews]] = [:]
  }

  private let state = Locked(State())

  /// Whether nothing is followed.
  var isEmpty: Bool { state.withLock { $0.entries.isEmpty } }

  /// The number of followed queries and graphs.
  var count: Int { state.withLock { $0.entries.count } }

  /// All views.
  var all: [any LiveView] {
    state.withLock { state in state.entries.values.map(\.view) }.compactMap { $0 }
  }

  /// A view; `nil` after its last iteration.
  func view(_ number: UInt64) -> (any LiveView)? { state.withLock { $0.entries[number]?.view } }

  /// Adds a view that is being loaded.
  func insert<View: LiveView>(_ view: View) {
    let (number, followed) = (view.number, view.followed)
    let type = types(of: view)
    // A graph with named roots is found by its nodes.
    let isNamed = view.hasOtherTypes && followed.query.nodeIdentifiers != nil
    if !isNamed { type.insert(number, followed) }
    let namespace = ByteString(view.hasOtherTypes ? "" : View.E.nodeNamespace ?? "")
    state.withLock { state in
      state.entries[number] = Entry(view: view, type: isNamed ? nil : type, namespace: namespace)
      state.loading[namespace, default: []].insert(number)
      if case .identifiers(let named) = followed.key { state.nodes.insert(named, of: number) }
    }
  }

  /// The views of a view's type.
  func types<View: LiveView>(of view: View) -> TypeViews<View.E> {
    let dependOnOthers = view.followed.needsStore
    let namespace = ByteString(dependOnOthers ? "" : View.E.nodeNamespace ?? "")
    return state.withLock { state in
      for case let known as TypeViews<View.E> in state.types[namespace] ?? []
      where known.dependOnOthers == dependOnOthers {
        return known
      }
      let new = TypeViews<View.E>(dependOnOthers: dependOnOthers)
      state.types[namespace, default: []].append(new)
      return new
    }
  }

  /// Records that a view shows a value.
  func didShow<View: LiveView>(_ value: View.Value, of view: View) {
    setLast(view, value, widens: false)
    state.withLock { state in
      guard let namespace = state.entries[view.number]?.namespace else { return }
      state.hasLoaded(view.number, namespace)
    }
  }

  /// Removes a view.
  func remove(_ number: UInt64) {
    let type = state.withLock { state -> (any AnyTypeViews)? in
      // The reference is weak, so no view is released under the lock.
      guard let entry = state.entries.removeValue(forKey: number) else { return nil }
      state.hasLoaded(number, entry.namespace)
      state.nodes.remove(number)
      state.broad.remove(number)
      return entry.type
    }
    type?.remove(number)
  }

  /// Adds the nodes of a view's next value.
  ///
  /// - Parameters:
  ///   - changed: Nodes, among them all that the value has gained or lost; `nil` if these are unknown.
  ///   - value: The value.
  ///   - view: The view.
  func insert<View: LiveView>(_ changed: [ByteString]?, in value: View.Value, of view: View) {
    setLast(view, value, widens: true)
    if changed == nil, view.rangedCount(of: value) > Self.keptMaximum {
      return setBroad(view.number)
    }
    let nodes = changed.map { $0.filter { view.depends(value, on: $0) } }
    let new = nodes.map { Set($0) } ?? view.nodes(of: value)
    let type = state.withLock { state -> (any AnyTypeViews)? in
      guard let entry = state.entries[view.number] else { return nil }
      if state.broad.contains(view.number) {
        if changed != nil { return nil }
        state.broad.remove(view.number)
      }
      state.nodes.insert(new, of: view.number)
      return changed == nil ? entry.type : nil
    }
    type?.setTakesAll(false, of: view.number)
  }

  /// A view that ranges find, and that keeps more nodes, is found by every change of its type instead.
  private static var keptMaximum: Int { 10_000 }

  private func setBroad(_ number: UInt64) {
    state.withLock { state in state.entries[number]?.type }?.setTakesAll(true, of: number)
    state.withLock { state in
      guard state.entries[number] != nil else { return }
      state.broad.insert(number)
      state.nodes.remove(number)
    }
  }

  /// Sets the bound of a view with an `order` key.
  ///
  /// `widens` is true before the value is published: entities that enter the former value still find the view.
  private func setLast<View: LiveView>(_ view: View, _ value: View.Value, widens: Bool) {
    guard case .order = view.followed.key else { return }
    let type = state.withLock { $0.entries[view.number]?.type }
    type?.setLast(view.last(of: value), of: view.number, widens: widens)
  }

  /// Removes the nodes that the view's published value does not have any more.
  ///
  /// - Parameters:
  ///   - changed: As ``insert(_:in:of:)``.
  ///   - value: The value.
  ///   - view: The view.
  func remove<View: LiveView>(_ changed: [ByteString]?, notIn value: View.Value, of view: View) {
    if state.withLock({ $0.broad.contains(view.number) }) { return }
    let gone: Set<ByteString>
    if let changed {
      gone = Set(changed.filter { !view.depends(value, on: $0) })
    } else {
      // Searching the value for each node could take quadratic time.
      gone = state.withLock { $0.nodes.keys(of: view.number) }.subtracting(view.nodes(of: value))
    }
    if !gone.isEmpty { state.withLock { $0.nodes.remove(gone, of: view.number) } }
  }

  // MARK: Commits

  /// Whether one of some writes affects a view, or may.
  func areConcerned(by writes: [CommitEffects]) -> Bool {
    let (types, isFound) = state.withLock { state in
      let isFound = writes.contains { write in
        write.nodes.contains { node in
          state.nodes.contains(node) || state.loading.keys.contains { node.isIdentifier(of: $0) }
        }
      }
      return (state.types, isFound)
    }
    return isFound
      || types.contains { namespace, types in
        types.contains { $0.mayTake(writes, in: namespace) }
      }
  }

  /// The views that a write affects, each with the touched nodes that concern it.
  ///
  /// - Returns: The views, in the order in which they were made; `nil` if a snapshot has to be read.
  func concerned(by touched: TouchedNodes) -> [(view: any LiveView, nodes: [ByteString])]? {
    let (types, loading) = state.withLock { ($0.types, $0.loading) }
    for namespace in loading.keys
    where touched.identifiers.contains(where: { $0.isIdentifier(of: namespace) }) { return nil }
    // The parents of a changed node are unknown without a read.
    if touched.hasUpdated, types.values.joined().contains(where: \.holdsNodes) { return nil }
    var found: [UInt64: [ByteString]] = [:]
    for node in touched.identifiers {
      var numbers = state.withLock { $0.nodes.holders(of: node) }
      for (namespace, all) in types where node.isIdentifier(of: namespace) {
        for views in all where !views.dependOnOthers {
          if !views.find(node, of: touched, into: &numbers) { return nil }
        }
      }
      for number in numbers { found[number, default: []].append(node) }
    }
    for views in types.values.joined() where views.dependOnOthers {
      for (number, nodes) in views.views(dependingOn: touched.identifiers) {
        guard let nodes else { return nil }
        found[number] = nodes
      }
    }
    return found.keys.sorted().compactMap { number in
      view(number).map { ($0, found[number] ?? []) }
    }
  }

  /// The views that commits affect, each with the touched nodes that concern it; `nil` if those are unknown.
  ///
  /// - Parameters:
  ///   - group: The commits.
  ///   - snapshot: The store after them.
  ///   - reads: Reads the touched entities.
  /// - Returns: The views, in the order in which they were made.
  func concerned(
    by group: CommitGroup, in snapshot: ModelSnapshot, _ reads: inout EntityReads
  ) -> [(view: any LiveView, nodes: [ByteString]?)] {
    if group.hasExpired { return all.map { ($0, nil) } }
    let types = state.withLock { $0.types }
    let holding = types.values.joined().contains(where: \.holdsNodes)
    // Sorted, so that reads have the same order each time.
    let all = holding ? group.touched(in: snapshot) : Set(group.changed + group.deleted)
    let touched = all.ordered()
    var found = concerned(by: touched) { identifier, views, numbers in
      views.find(identifier, &reads, snapshot, into: &numbers)
    }
    for views in types.values.joined() where views.dependOnOthers {
      found.merge(views.views(dependingOn: touched)) { $1 }
    }
    return found.keys.ordered().compactMap { number in
      view(number).map { ($0, found[number] ?? nil) }
    }
  }

  /// The views that changed entities of one type affect, each with its changes.
  func concerned<E: Queryable>(
    by changes: [EntityChange<E>]
  ) -> [(view: any LiveView, changes: [EntityChange<E>])] {
    let byNode = Dictionary(changes.map { ($0.identifier, $0) }) { $1 }
    let found = concerned(by: changes.map(\.identifier)) { identifier, views, numbers in
      (views as? TypeViews<E>)?.find(byNode[identifier]?.entity?.entity, into: &numbers)
    }
    return found.compactMap { number, nodes in
      view(number).map { ($0, (nodes ?? []).compactMap { byNode[$0] }) }
    }
  }

  private func concerned(
    by touched: [ByteString],
    find: (ByteString, any AnyTypeViews, inout Set<UInt64>) -> Void
  ) -> [UInt64: [ByteString]?] {
    let (types, loading) = state.withLock { ($0.types, $0.loading) }
    var found: [UInt64: [ByteString]?] = [:]
    for identifier in touched {
      var numbers = state.withLock { $0.nodes.holders(of: identifier) }
      for namespace in identifier.namespaces {
        if let more = loading[namespace] { numbers.formUnion(more) }
        for views in types[namespace] ?? [] where !views.dependOnOthers {
          find(identifier, views, &numbers)
        }
      }
      for number in numbers { found[number, default: []]?.append(identifier) }
    }
    return found
  }
}

extension ViewIndex.State {
  fileprivate mutating func hasLoaded(_ number: UInt64, _ namespace: ByteString) {
    loading[namespace]?.remove(number)
    if loading[namespace]?.isEmpty == true { loading[namespace] = nil }
  }
}

extension ViewIndex {
  /// Stops the process if the index does not find a view by exactly the nodes of its published value.
  ///
  /// Called on the pipeline, before a later value is staged.
  ///
  /// - Complexity: O(*n*) for *n* nodes of the value.
  func checkInvariants<View: LiveView>(of view: View, showing value: View.Value) {
    let nodes = view.nodes(of: value)
    state.withLock { state in
      guard let entry = state.entries[view.number] else { return }
      if case .order(let order, _) = view.followed.key {
        precondition(
          entry.type?.bound(of: view.number)
            == view.last(of: value).map { order.range(upTo: $0) },
          "the view \(view.number) is found by another last entity")
      }
      if state.broad.contains(view.number) { return }
      let found = state.nodes.keys(of: view.number)
      let missing = nodes.subtracting(found).map(\.text).sorted()
      let extra = found.subtracting(nodes).map(\.text).sorted()
      precondition(missing.isEmpty, "the view \(view.number) is not found by \(missing)")
      precondition(extra.isEmpty, "the view \(view.number) is found by \(extra)")
      precondition(
        state.loading[entry.namespace]?.contains(view.number) != true,
        "the view \(view.number) is shown and still being loaded")
    }
  }

  /// Stops the process if the parts of the index do not have the same views.
  ///
  /// - Complexity: O(*n*) for *n* pairs of a node and a view.
  func checkInvariants() {
    state.withLock { state in
      state.nodes.checkInvariants()
      precondition(
        state.nodes.holders.isSubset(of: state.entries.keys), "a node finds a view that has left")
      for (namespace, numbers) in state.loading {
        precondition(!numbers.isEmpty, "a namespace without views is being loaded")
        for number in numbers {
          precondition(
            state.entries[number]?.namespace == namespace,
            "the view \(number) is being loaded and has left")
        }
      }
      for (number, entry) in state.entries {
        // A view enters its type first, and leaves it last.
        precondition(
          entry.type?.numbers.contains(number) ?? true, "the view \(number) has no type")
      }
      for views in state.types.values.joined() { views.checkInvariants() }
    }
  }
}
