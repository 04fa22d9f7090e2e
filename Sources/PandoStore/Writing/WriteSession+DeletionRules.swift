import PandoLMDB
import PandoModels
import PandoSystem

extension WriteSession {
  /// The rules of a type; `nil` if it has none.
  ///
  /// All rules are read at the first call of a flush.
  func deletionRules(ofType type: UInt32) throws -> DeletionRules? {
    if let rules = state.deletionRules { return rules[type] }
    let rules = try reading { try $0.deletionRules() }
    state.deletionRules = rules
    return rules[type]
  }

  /// Stores the rules of a type.
  func setDeletionRules(_ rules: DeletionRules, ofTypeNamed name: String) throws {
    guard try reading({ try $0.deletionRules(ofTypeNamed: name) }) ?? DeletionRules([]) != rules
    else { return }
    try rules.check(name)
    state.notes?.ruledTypes.append(name)
    let key = DeletionRules.key(name)
    let wasHalfDone = state.isHalfDone
    if rules.rules.isEmpty {
      try deleteRow(key.span, in: tables.meta)
    } else {
      try put(rules.bytes.span, forKey: key.span, in: tables.meta)
      state.adds = true
    }
    state.isHalfDone = wasHalfDone
    state.deletionRules = nil
  }

  /// The owned descendants of deleted nodes that have no other parent.
  ///
  /// - Parameters:
  ///   - doomed: The deleted nodes.
  ///   - isDoomed: The same nodes as a set.
  /// - Returns: The children to delete, in the order in which they were found.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
  func owned(by doomed: [UInt64], _ isDoomed: Set<UInt64>) throws -> [UInt64] {
    var isDoomed = isDoomed
    var found: [UInt64] = []
    var frontier = doomed
    // A child with another parent remains a candidate: that parent may be deleted later.
    var candidates: [UInt64] = []
    while !frontier.isEmpty {
      candidates += try frontier.flatMap { try children(ownedBy: $0) }
      frontier = []
      for child in candidates
      where try !isDoomed.contains(child) && !isHeld(child, besides: isDoomed) {
        isDoomed.insert(child)
        frontier.append(child)
      }
      found += frontier
    }
    return found
  }

  private func children(ownedBy node: UInt64) throws -> [UInt64] {
    try reading { try $0.requiredSummary(of: node).types }.flatMap { type -> [UInt64] in
      guard let rules = try deletionRules(ofType: type),
        let body = try storedBody(of: RecordKey(type: type, node: node))
      else { return [] }
      return try rules.children(of: .owned, in: body.span).map(\.node)
    }
  }

  private func isHeld(_ child: UInt64, besides doomed: Set<UInt64>) throws -> Bool {
    var isHeld = false
    try reading { reader in
      try reader.forEachParent(of: child) { parent, _ in
        isHeld = parent.isCollection || !doomed.contains(parent.node)
        return !isHeld
      }
    }
    return isHeld
  }

  /// The error of a node whose delete a rule refuses.
  func restricted(
    _ holders: [(parent: RecordKey, child: UInt64, field: String)]
  ) throws -> StoreError {
    let first = holders[0]
    let (child, parent) = try reading {
      (try $0.identifier(of: first.child), try $0.identifier(of: first.parent.node))
    }
    let others = Set(holders.map(\.parent.node)).count - 1
    let rest = others == 0 ? "" : others == 1 ? ", and one more does" : ", and \(others) more do"
    return StoreError(
      .restricted, child,
      "can't be deleted: \(parent) holds it as \(first.field)\(rest); delete or change them first")
  }
}
