import ModelCore

/// Makes new trees from old ones and an update, sharing what has not changed.
struct Regenerator {
  let update: LiveUpdate

  /// What an update makes of a tree; `nil` if it stays as it is.
  func regenerate(_ root: any SimpleModel) -> Regeneration? {
    var updates = ModelUpdates()
    guard let root = root as? any Model else { return regenerateSimple(root) }
    switch visit(root, &updates) {
    case .unchanged: return nil
    case .removed: return Regeneration(model: nil, updates: updates)
    case .changed(let model): return Regeneration(model: model, updates: updates)
    }
  }

  private enum Outcome {
    case unchanged
    case changed(any Model)
    case removed
  }

  private func regenerateSimple(_ root: any SimpleModel) -> Regeneration? {
    guard let identifier = root.modelIdentifier else { return nil }
    let key = ByteString(identifier)
    if update.deleted.contains(key) {
      return Regeneration(model: nil, updates: ModelUpdates(deletedModelIdentifiers: [identifier]))
    }
    guard let versions = update.versions[key] else { return nil }
    for version in versions.stored + versions.given where type(of: version) == type(of: root) {
      if version.isEqual(to: root) { return nil }
      return Regeneration(
        model: version, updates: ModelUpdates(changedModelIdentifiers: [identifier]))
    }
    return nil
  }

  private func visit(_ node: any Model, _ updates: inout ModelUpdates) -> Outcome {
    let identifier = node.modelIdentifier
    if let identifier {
      let key = ByteString(identifier)
      if update.deleted.contains(key) {
        updates.deletedModelIdentifiers.append(identifier)
        return .removed
      }
      if let versions = update.versions[key] {
        let new = Self.replacement(of: node, versions)
        if new.isEqual(to: node) { return .unchanged }
        updates.changedModelIdentifiers.append(identifier)
        return .changed(new)
      }
    }
    var hasChanged = false
    var inner = ModelUpdates()
    let mapped = node.map { child in
      switch visit(child, &inner) {
      case .unchanged: return child
      case .changed(let new):
        hasChanged = true
        return new
      case .removed:
        hasChanged = true
        return nil
      }
    }
    guard hasChanged else { return .unchanged }
    if let identifier {
      if mapped == nil {
        updates.deletedModelIdentifiers.append(identifier)
      } else {
        updates.changedModelIdentifiers.append(identifier)
      }
    }
    updates.changedModelIdentifiers += inner.changedModelIdentifiers
    updates.deletedModelIdentifiers += inner.deletedModelIdentifiers
    return mapped.map { .changed($0) } ?? .removed
  }

  static func replacement(of node: any Model, _ versions: LiveUpdate.Versions) -> any Model {
    for stored in versions.stored where type(of: stored) == type(of: node) {
      if let stored = stored as? any Model { return stored }
    }
    var merged = node
    for given in versions.given {
      if let given = given as? any Model { merged = merged.merge(given) }
    }
    return merged
  }
}
