import PandoConsistency

/// The calls that a listener must get, computed from the documented rules.
struct ReferenceListener {
  struct Call: Equatable, CustomStringConvertible {
    var tree: String?
    var changed: Set<String>
    var deleted: Set<String>
    var context: Int

    var description: String {
      "\(context): \(tree ?? "nil") changed \(changed.sorted()) deleted \(deleted.sorted())"
    }
  }

  private(set) var shown: Node?
  private(set) var calls: [Call] = []
  var isPausedAlone = false
  var isPausedInBatch = false

  /// The newest tree while the listener is paused.
  private var newest: Node?
  private var root: String?
  private var changed: Set<String> = []
  private var deleted: Set<String> = []
  private var context: Int?

  var isPaused: Bool { isPausedAlone || isPausedInBatch }

  init(_ tree: Node) {
    shown = tree
    newest = tree
    root = tree.name
  }

  /// Hears of an update.
  mutating func apply(_ new: [String: Node], deleted: Set<String>, context: Int) {
    guard isPaused else {
      guard let tree = shown else { return }
      let result = Reference.apply(tree, new, deleted: deleted)
      guard !result.isUnchanged else { return }
      shown = result.tree
      newest = shown
      calls.append(
        Call(
          tree: result.tree?.text, changed: result.changed, deleted: result.deleted,
          context: context))
      return
    }
    // A root that had gone before the pause stays away.
    guard shown != nil, let root else { return }
    let result =
      newest.map { Reference.apply($0, new, deleted: deleted) }
      ?? new[root].map { Reference.Result(tree: $0, changed: [root]) }
    guard let result, !result.isUnchanged else { return }
    newest = result.tree
    changed.formUnion(result.changed)
    self.deleted.formUnion(result.deleted)
    self.context = context
    let present = Set(newest?.all.compactMap(\.name) ?? [])
    changed.formUnion(self.deleted.intersection(present))
    self.deleted.subtract(present)
  }

  /// Catches up.
  mutating func resume() {
    defer {
      shown = newest
      changed = []
      deleted = []
      context = nil
    }
    guard let old = shown, let context else { return }
    if let newest, newest.isEqual(to: old) { return }
    var call = Call(tree: newest?.text, changed: [], deleted: [], context: context)
    for node in old.all {
      guard let name = node.name, changed.contains(name) || deleted.contains(name) else { continue }
      if let now = newest?.all.first(where: { $0.name == name }) {
        if !now.isEqual(to: node) { call.changed.insert(name) }
      } else if deleted.contains(name) {
        call.deleted.insert(name)
      } else if newest != nil {
        call.changed.insert(name)
      }
    }
    calls.append(call)
  }
}
