import PandoModels

/// Makes new trees from old ones and an update, sharing what has not changed.
///
/// There is one for all updates, which keeps what it needs for each of them.
struct Regenerator {
  enum Outcome {
    case unchanged
    case changed(any Model)
    case removed
  }

  /// Tells models that need not be made anew.
  let watch: MapWatch

  // The update at work:
  /// The identifiers that are deleted.
  private(set) var deleted: Set<ByteString> = []
  /// Those that were deleted in memory before: no live tree has one, and what is read may.
  private var vanished: Set<ByteString> = []
  /// Whether carried models may hold older content of others.
  private var isNested = false
  /// How many levels of nodes the trees have that were given.
  private var givenDepth = 0
  /// In how many carried models the node at work is.
  private var carriedDepth = 0
  /// The identifiers that were deleted and are there again.
  private var renewed: Set<ByteString> = []
  private var versions = VersionTable()
  /// What is carried for each identifier of `versions`, at the same places.
  private var carried: [Carried] = []
  /// Whether a delegate wants to hear of every replacement.
  private(set) var keepsReplacements = false
  /// Whether places inside a replaced subtree can be concerned too.
  private(set) var carriesSeveral = false

  /// What was wrong, each mistake once an update.
  var mistakes: [ConsistencyError] = []
  var replacements: [Replacement] = []

  // The tree at work:
  /// Identifiers of changed nodes, a parent before its children; a node that turns out to be unchanged
  /// takes itself and what is behind it away again.
  var changed: [String] = []
  /// Nodes that went because of a required child.
  var gone: Set<ByteString> = []
  /// Nodes that were asked for, while something is deleted.
  var visited: Set<ByteString> = []
  /// Whether the work is done, and only deleted nodes are looked for.
  var isListing = false
  var hasDeleted = false
  var hasSameNodes = true
  /// Whether merging has given something else than what is carried, as a type's own `merge` may.
  var mergesOddly = false
  /// The last type of a tree, and how it conforms to `Model`.
  private var rootType: (simple: any SimpleModel.Type, model: (any Model.Type)?)?
  /// Whether a node was met that the update carries or deletes.
  var hasMet = false
  /// Whether each model that is gone through is asked whether its `map` leaves children out.
  private(set) var comparesChildren = false
  /// Types whose `map` was found to leave out a child.
  private var forgetfulTypes: Set<ObjectIdentifier> = []
  /// How many nodes were replaced by what the update carries.
  var replacedCount = 0
  /// How many nodes are registered for the tree; 0 if that is not known.
  private(set) var registeredCount = 0

  init(watch: MapWatch) { self.watch = watch }

  /// Begins to work on an update.
  ///
  /// - Parameters:
  ///   - update: The update.
  ///   - vanished: Nodes that it does not carry, and that no tree may bring back.
  ///   - keepsReplacements: Whether a delegate wants to hear of every replacement.
  mutating func begin(
    _ update: LiveUpdate, besides vanished: Set<ByteString>, keepsReplacements: Bool
  ) {
    deleted = update.deleted
    self.vanished = vanished
    renewed = update.renewed
    isNested = update.isNested
    versions = update.versions
    self.keepsReplacements = keepsReplacements
    givenDepth = update.nodeDepth
    carriesSeveral = versions.count + deleted.count + renewed.count > 1
    for position in 0..<versions.count {
      carried.append(Carried(versions[position: position], isOnlyOne: !carriesSeveral))
    }
  }

  /// Ends the work on an update, and keeps little of the room it took.
  mutating func end() {
    if !deleted.isEmpty { deleted = [] }
    if !vanished.isEmpty { vanished = [] }
    if !renewed.isEmpty { renewed = [] }
    versions.removeAll()
    carried.removeAll(keepingCapacity: carried.count < Self.keptCountMaximum)
    changed.removeAll(keepingCapacity: changed.count < Self.keptCountMaximum)
    if !gone.isEmpty { gone = [] }
    if !visited.isEmpty { visited = [] }
    if !mistakes.isEmpty { mistakes = [] }
    if !replacements.isEmpty { replacements = [] }
    carriesSeveral = false
    mergesOddly = false
    rootType = nil
  }

  /// For how many elements room is kept from one update to the next.
  private static let keptCountMaximum = 64

  /// What an update makes of a tree; `nil` if it stays as it is.
  ///
  /// - Parameters:
  ///   - root: The tree.
  ///   - nodeCount: How many nodes are registered for it; 0 if that is not known.
  ///   - isConcerned: Whether it holds a node of the update, as far as its `forEach` says.
  /// - Returns: The new tree.
  mutating func regenerate(
    _ root: any SimpleModel, nodeCount: Int = 0, isConcerned: Bool = false
  ) -> Regeneration? {
    guard let type = modelType(type(of: root)) else { return regenerateSimple(root) }
    let model = ModelBoxes.model(root, type)
    switch regenerateTree(model, registeredCount: nodeCount, isConcerned: isConcerned) {
    case .unchanged: return nil
    case .removed:
      gone.removeAll()
      return Regeneration(model: nil)
    case .changed(let new):
      if hasDeleted { gone.removeAll() }
      return Regeneration(model: ModelBoxes.simple(new), hasSameNodes: hasSameNodes)
    }
  }

  /// How the type of a tree conforms to `Model`; trees of one type come one after another.
  private mutating func modelType(_ type: any SimpleModel.Type) -> (any Model.Type)? {
    if let rootType, rootType.simple == type { return rootType.model }
    let model = ModelTypes.modelType(type)
    rootType = (type, model)
    return model
  }

  /// What an update makes of a tree; `nil` if it stays as it is.
  ///
  /// - Parameters:
  ///   - root: The tree.
  ///   - registeredCount: How many nodes are registered for it; 0 if that is not known.
  /// - Returns: The new tree, which is `nil` if the root is deleted, and what changed.
  mutating func regenerate(
    _ root: any Model, registeredCount: Int
  ) -> (model: (any Model)?, updates: ModelUpdates)? {
    switch regenerateTree(root, registeredCount: registeredCount, isConcerned: true) {
    case .unchanged: nil
    case .removed: (nil, makeUpdates(root))
    case .changed(let new): (new, makeUpdates(root))
    }
  }

  private mutating func regenerateTree(
    _ root: any Model, registeredCount: Int, isConcerned: Bool
  ) -> Outcome {
    // Of an update that carries one node it shows at the end whether a child was left out.
    comparesChildren = carriesSeveral
    let outcome = regenerateTree(root, registeredCount: registeredCount)
    guard isConcerned, !hasMet, !comparesChildren else { return outcome }
    comparesChildren = true
    return regenerateTree(root, registeredCount: registeredCount)
  }

  private mutating func regenerateTree(_ root: any Model, registeredCount: Int) -> Outcome {
    changed.removeAll(keepingCapacity: true)
    hasDeleted = false
    hasMet = false
    hasSameNodes = true
    replacedCount = 0
    if !visited.isEmpty { visited.removeAll(keepingCapacity: true) }
    self.registeredCount = registeredCount
    return visit(root, TreeLevel())
  }

  private mutating func regenerateSimple(_ root: any SimpleModel) -> Regeneration? {
    guard let identifier = root.modelIdentifier else { return nil }
    let key = ByteString(identifier)
    if deleted.contains(key) || vanished.contains(key) || isLost(key, type(of: root)) {
      if keepsReplacements { replaced(root, nil) }
      return Regeneration(model: nil)
    }
    guard let version = versions[key]?.model(as: type(of: root)),
      !version.isEqual(to: root)
    else { return nil }
    if keepsReplacements { replaced(root, version) }
    return Regeneration(model: version, hasSameNodes: true)
  }

  mutating func visit(_ node: any Model, _ level: TreeLevel) -> Outcome {
    var outcome = Outcome.unchanged
    level.onStack { outcome = visitHere(node, level) }
    return outcome
  }

  private mutating func visitHere(_ node: any Model, _ level: TreeLevel) -> Outcome {
    let identifier = node.modelIdentifier
    guard !level.isTooDeep(isNode: identifier != nil) else {
      report(.nestingTooDeep, node, "a live tree is nested too deep, so what is below stays")
      return .unchanged
    }
    guard let identifier else { return visitChildren(of: node, nil, level) }
    let key = ByteString(identifier)
    let hasVanished = !vanished.isEmpty && vanished.contains(key)
    if hasVanished || !deleted.isEmpty || !renewed.isEmpty {
      let isLost = isLost(key, type(of: node))
      if isLost { gone.insert(key) }
      if isLost || hasVanished || deleted.contains(key) {
        hasMet = true
        hasDeleted = true
        hasSameNodes = false
        if keepsReplacements { replaced(node, nil) }
        return .removed
      }
      visited.insert(key)
    }
    guard let carried = carried(key) else {
      return visitChildren(of: node, identifier, level)
    }
    hasMet = true
    var new = replacement(of: node, carried)
    if level.nodeCount + givenDepth > RecordLimits.maximumNodeDepth, isTooDeep(new, at: level) {
      report(.nestingTooDeep, node, "its tree would be nested too deep here, so it stays")
      return .unchanged
    }
    if isNested {
      carriedDepth += 1
      defer { carriedDepth -= 1 }
      switch visitChildren(of: new, nil, level) {
      case .unchanged: break
      case .changed(let inner): new = inner
      case .removed:
        gone.insert(key)
        return .removed
      }
    }
    if new.isEqual(to: ModelBoxes.simple(node)) { return .unchanged }
    changed.append(identifier)
    replacedCount += 1
    if keepsReplacements { replaced(node, new) }
    compareSubtrees(node, new, carried, level)
    return .changed(new)
  }

  /// Whether the levels of a tree are too many where it is to lie.
  private func isTooDeep(_ model: any Model, at level: TreeLevel) -> Bool {
    var isTooDeep = false
    ModelChildren.walk(model, at: level, tooDeep: { isTooDeep = true }) { _, _ in !isTooDeep }
    return isTooDeep
  }

  private mutating func visitChildren(
    of node: any Model, _ identifier: String?, _ level: TreeLevel
  ) -> Outcome {
    let start = changed.count
    if let identifier { changed.append(identifier) }
    let inner = level.below(isNode: identifier != nil || node.modelIdentifier != nil)
    let (mapped, pass) = mapChildren(of: node, inner)
    guard pass.hasChanged else {
      changed.removeSubrange(start...)
      return .unchanged
    }
    guard let mapped else {
      changed.removeSubrange(start...)
      if let identifier { gone.insert(ByteString(identifier)) }
      if keepsReplacements { replaced(node, nil) }
      return .removed
    }
    guard type(of: mapped) == type(of: node) else {
      changed.removeSubrange(start...)
      report(.wrongType, node, "`map` returned a \(type(of: mapped)), so the model stays as it was")
      return .unchanged
    }
    if keepsReplacements { replaced(node, mapped) }
    return .changed(mapped)
  }

  /// Replaces the children of a model, which lie at a level.
  private mutating func mapChildren(
    of node: any Model, _ level: TreeLevel
  ) -> (model: (any Model)?, pass: ChildPass) {
    if !forgetfulTypes.isEmpty, forgetfulTypes.contains(ObjectIdentifier(type(of: node))) {
      return mapAll(node, level)
    }
    let start = Start(self)
    var pass = ChildPass()
    watch.isCoded = false
    let mapped = node.mapAny { visit($0, level, &pass) }
    // Who loses a required child need not ask for the others.
    guard comparesChildren, !watch.isCoded, mapped != nil || !pass.hasChanged,
      leavesChildrenOut(node, pass)
    else { return (mapped, pass) }
    forgetfulTypes.insert(ObjectIdentifier(type(of: node)))
    start.goBack(&self)
    return mapAll(node, level)
  }

  /// Visits a child that is asked for, and lies at a level.
  ///
  /// - Returns: What replaces it.
  mutating func visit(
    _ child: any Model, _ level: TreeLevel, _ pass: inout ChildPass
  ) -> (any Model)? {
    pass.count += 1
    let outcome = visit(child, level)
    // What is below the child may have said otherwise.
    watch.isCoded = false
    switch outcome {
    case .unchanged:
      watch.keepsChild = true
      return child
    case .changed(let new):
      watch.keepsChild = false
      pass.hasChanged = true
      return new
    case .removed:
      watch.keepsChild = false
      pass.hasChanged = true
      return nil
    }
  }

  /// Whether a node was gone in between, and what is there now is not of its type.
  private func isLost(_ key: ByteString, _ type: any SimpleModel.Type) -> Bool {
    guard !renewed.isEmpty, carriedDepth == 0, renewed.contains(key) else { return false }
    return versions[key]?.model(as: type) == nil
  }

  func carried(_ key: ByteString) -> Carried? {
    versions.position(of: key).map { carried[$0] }
  }

  /// What an update makes of a node that it carries.
  private mutating func replacement(of node: any Model, _ carried: Carried) -> any Model {
    let nodeType = type(of: node)
    // A newer version of the same type stands as it is; only other types are merged in.
    if let only = carried.only, type(of: only) == nodeType { return only }
    for stored in carried.stored where type(of: stored) == nodeType { return stored }
    var merged = node
    for given in carried.given {
      let next = type(of: given) == nodeType ? given : watchedMerge(merged, given)
      if type(of: next) == nodeType {
        merged = next
      } else {
        report(
          .wrongType, node, "`merge` returned a \(type(of: next)), so the model stays as it was")
      }
    }
    if let last = carried.given.last, !merged.isEqual(to: last) { mergesOddly = true }
    return merged
  }

  /// Merges a model of another type, and reports what could not be done.
  private mutating func watchedMerge(_ node: any Model, _ given: any Model) -> any Model {
    let watch = MergeWatch()
    let merged = MergeWatch.$current.withValue(watch) { node.merge(given) }
    for fault in watch.takeFaults() {
      let fields = fault.kept.isEmpty ? "nothing" : "not \(fault.kept.joined(separator: ", "))"
      report(
        .mergeFailed, fault.older,
        "a \(type(of: fault.newer)) can't be merged into it: \(fields) was taken")
    }
    return merged
  }

  /// Keeps a replacement for the delegate.
  private mutating func replaced(_ old: any SimpleModel, _ new: (any SimpleModel)?) {
    if isListing { return }
    replacements.append(Replacement(old: old, new: new))
  }

  mutating func report(_ code: ConsistencyError.Code, _ node: any SimpleModel, _ reason: String) {
    let mistake = ConsistencyError(
      code, identifier: node.modelIdentifier, type: type(of: node), reason: reason)
    let isKnown = mistakes.contains {
      $0.code == code && $0.identifier == mistake.identifier && $0.typeName == mistake.typeName
    }
    if !isKnown { mistakes.append(mistake) }
  }

  /// Whether the update carries a node as it is.
  mutating func isUnchanged(_ node: any Model, _ key: ByteString) -> Bool {
    guard let carried = carried(key) else { return false }
    return !differs(node, carried)
  }

  /// Whether what the update carries for a node differs from it.
  mutating func differs(_ node: any Model, _ carried: Carried) -> Bool {
    !replacement(of: node, carried).isEqual(to: node)
  }
}

extension LiveUpdate.Versions {
  /// What counts for a type.
  func model(as type: any SimpleModel.Type) -> (any SimpleModel)? {
    for model in stored where Swift.type(of: model) == type { return model }
    for model in given where Swift.type(of: model) == type { return model }
    return nil
  }
}
