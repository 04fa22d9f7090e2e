import FoundationEssentials
import PandoModels

/// The union of changes to a tree that its listener has not received.
struct HeldChanges: Sendable {
  private(set) var updates: ModelUpdates
  /// The context of the last change.
  private(set) var context: (any Sendable)?
  /// The time of the last change.
  private(set) var date: Date
  /// The number of the last update.
  private(set) var order: UInt64

  init(_ updates: ModelUpdates, _ origin: ChangeOrigin) {
    self.updates = updates
    context = origin.context
    date = origin.date
    order = origin.order
  }

  mutating func add(_ later: HeldChanges) {
    updates.formUnion(later.updates)
    context = later.context
    date = later.date
    order = later.order
  }

  /// Moves deleted identifiers that are in the tree again to the changed ones.
  mutating func revive(in tree: any Model) {
    guard !updates.deletedModelIdentifiers.isEmpty else { return }
    let present = TreeNodes.identifiers(of: tree)
    let back = updates.deletedModelIdentifiers.filter { present.contains(ByteString($0)) }
    updates.deletedModelIdentifiers.removeAll { present.contains(ByteString($0)) }
    updates.changedModelIdentifiers += back
  }

  /// Returns the part of the changes that differs between the shown and the newest tree.
  ///
  /// - Returns: `nil` if both trees are equal.
  func difference(from shown: any Model, to newest: (any Model)?) -> ModelUpdates? {
    if let newest, newest.isEqual(to: shown) { return nil }
    var present: [ByteString: any SimpleModel] = [:]
    if let newest {
      TreeNodes.forEach(of: newest) { node, identifier in present[ByteString(identifier)] = node }
    }
    let changed = Set(updates.changedModelIdentifiers.map { ByteString($0) })
    let deleted = Set(updates.deletedModelIdentifiers.map { ByteString($0) })
    var named = Set<ByteString>()
    var result = ModelUpdates()
    TreeNodes.forEach(of: shown) { node, identifier in
      let key = ByteString(identifier)
      guard changed.contains(key) || deleted.contains(key), named.insert(key).inserted else {
        return
      }
      if let now = present[key] {
        if !now.isEqual(to: node) { result.changedModelIdentifiers.append(identifier) }
      } else if deleted.contains(key) {
        result.deletedModelIdentifiers.append(identifier)
      } else if newest != nil {
        result.changedModelIdentifiers.append(identifier)
      }
    }
    return result
  }
}
