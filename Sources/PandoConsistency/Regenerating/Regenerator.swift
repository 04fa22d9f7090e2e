import PandoModels
import PandoRecords

/// Makes new trees from old trees and an update, and shares the unchanged parts.
///
/// One regenerator serves all updates, one after another. The properties under "The update at work"
/// are set by `begin` and cleared by `end`. Those under "The tree at work" belong to one call of
/// `regenerate`.
struct Regenerator {
  enum Outcome {
    case unchanged
    case changed(any Model)
    case removed
  }

  /// Detects models that need no new copy.
  let watch: MapWatch

  // The update at work:
  private(set) var deleted: Set<ByteString> = []
  /// Nodes that the overlay hides.
  ///
  /// No live tree contains one, but data from a read may.
  private var hidden: Set<ByteString> = []
  /// True if models of the update may contain older data of each other.
  private var isNested = false
  /// The depth of the given trees, in levels of nodes.
  private var givenDepth = 0
  /// The count of models of the update that contain the current node.
  private var carriedDepth = 0
  private var versions = VersionTable()
  /// The models for each identifier of `versions`, in the same order.
  private var carried: [Carried] = []
  /// True if a delegate receives each replacement.
  private(set) var keepsReplacements = false
  /// True if the update may also change nodes inside a replaced subtree.
  private(set) var carriesSeveral = false

  /// The mistakes found, each once for an update.
  var mistakes: [ConsistencyError] = []
  var replacements: [Replacement] = []

  // The tree at work:
  /// Identifiers of changed nodes, parents before children.
  ///
  /// If a node turns out to be unchanged, it is removed together with those after it.
  var changed: [String] = []
  /// Nodes removed because of a missing required child.
  var gone: Set<ByteString> = []
  /// Visited nodes, recorded while the update deletes something.
  var visited: Set<ByteString> = []
  /// True after the tree was made, while deleted nodes are listed.
  var isListing = false
  var hasDeleted = false
  var hasSameNodes = true
  /// True if a merge has returned other data than the update has, as a type's own `merge` may.
  var mergesOddly = false
  /// The type of the last tree, and its conformance to `Model`.
  private var rootType: (simple: any SimpleModel.Type, model: (any Model.Type)?)?
  /// True if the tree contains a node of the update.
  var hasMet = false
  /// True if the children of each model are compared with those that its `map` passes.
  private(set) var comparesChildren = false
  /// Types whose `map` has left out a child.
  private var forgetfulTypes: Set<ObjectIdentifier> = []
  /// The count of nodes that were replaced by models of the update.
  var replacedCount = 0
  /// The count of nodes registered for the tree; 0 if it is not available.
  private(set) var registeredCount = 0

  init(watch: MapWatch) { self.watch = watch }

  /// Begins an update.
  ///
  /// - Parameters:
  ///   - update: The update.
  ///   - hidden: Nodes that the update does not set, and that must not appear in a tree.
  ///   - keepsReplacements: True if a delegate receives each replacement.
  mutating func begin(
    _ update: LiveUpdate, hiding hidden: Set<ByteString>, keepsReplacements: Bool
  ) {
    deleted = update.deleted
    self.hidden = hidden
    isNested = update.isNested
    versions = update.versions
    self.keepsReplacements = keepsReplacements
    givenDepth = update.nodeDepth
    carriesSeveral = versions.count + deleted.count > 1
    for position in 0..<versions.count {
      carried.append(Carried(versions[position: position], isOnlyOne: !carriesSeveral))
    }
  }

  /// Ends an update, and releases most of its memory.
  mutating func end() {
    if !deleted.isEmpty { deleted = [] }
    if !hidden.isEmpty { hidden = [] }
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

  /// The maximum capacity of arrays that is kept between updates.
  private static let keptCountMaximum = 64

  /// Applies the update to a tree; returns `nil` if the tree does not change.
  ///
  /// - Parameters:
  ///   - root: The tree.
  ///   - nodeCount: The count of nodes registered for it; 0 if it is not available.
  ///   - isConcerned: True if its `forEach` visits a node of the update.
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

  /// Returns a type's conformance to `Model`.
  ///
  /// Trees of one type often follow each other.
  private mutating func modelType(_ type: any SimpleModel.Type) -> (any Model.Type)? {
    if let rootType, rootType.simple == type { return rootType.model }
    let model = ModelTypes.modelType(type)
    rootType = (type, model)
    return model
  }

  /// Applies the update to a tree; returns `nil` if the tree does not change.
  ///
  /// - Parameters:
  ///   - root: The tree.
  ///   - registeredCount: The count of nodes registered for it; 0 if it is not available.
  /// - Returns: The new tree, which is `nil` if the root is deleted, and the changes.
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
    // For an update of one node, `hasMet` shows in the end whether a child was left out.
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
    let versions = versions[key]
    let isLost = versions?.hasLost(type(of: root)) ?? false
    if isLost || deleted.contains(key) || hidden.contains(key) {
      if keepsReplacements { replaced(root, nil) }
      return Regeneration(model: nil)
    }
    guard let version = versions?.model(as: type(of: root)),
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
      report(.nestingTooDeep, node, "a live tree is nested too deep; deeper levels stay unchanged")
      return .unchanged
    }
    guard let identifier else { return visitChildren(of: node, nil, level) }
    let key = ByteString(identifier)
    let carried = carried(key)
    // Inside a model of the update, the node is as it was given after the deletion.
    let isLost = carriedDepth == 0 && carried?.hasLost(type(of: node)) ?? false
    if isLost { gone.insert(key) }
    if isLost || deleted.contains(key) || hidden.contains(key) {
      hasMet = true
      hasDeleted = true
      hasSameNodes = false
      if keepsReplacements { replaced(node, nil) }
      return .removed
    }
    if !deleted.isEmpty { visited.insert(key) }
    guard let carried else {
      return visitChildren(of: node, identifier, level)
    }
    hasMet = true
    var new = replacement(of: node, carried)
    if level.nodeCount + givenDepth > RecordLimits.maximumNodeDepth, isTooDeep(new, at: level) {
      report(.nestingTooDeep, node, "its tree would be nested too deep here; it stays unchanged")
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

  /// Returns true if a tree would be nested too deep at a level.
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
      report(.wrongType, node, "`map` returned a \(type(of: mapped)), so the model stays unchanged")
      return .unchanged
    }
    if keepsReplacements { replaced(node, mapped) }
    return .changed(mapped)
  }

  /// Replaces the children of a model, which are at a level.
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
    // `map` may stop at a missing required child.
    guard comparesChildren, !watch.isCoded, mapped != nil || !pass.hasChanged,
      leavesChildrenOut(node, pass)
    else { return (mapped, pass) }
    forgetfulTypes.insert(ObjectIdentifier(type(of: node)))
    start.goBack(&self)
    return mapAll(node, level)
  }

  /// Visits a child that `map` passes, at a level.
  ///
  /// - Returns: The child's replacement.
  mutating func visit(
    _ child: any Model, _ level: TreeLevel, _ pass: inout ChildPass
  ) -> (any Model)? {
    pass.count += 1
    let outcome = visit(child, level)
    // A model below the child may have set it.
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

  func carried(_ key: ByteString) -> Carried? {
    versions.position(of: key).map { carried[$0] }
  }

  /// Returns the update's version of a node.
  private mutating func replacement(of node: any Model, _ carried: Carried) -> any Model {
    let nodeType = type(of: node)
    // A newer version of the same type replaces the node. Only other types are merged.
    if let only = carried.only, type(of: only) == nodeType { return only }
    for stored in carried.stored where type(of: stored) == nodeType { return stored }
    var merged = node
    for given in carried.given {
      let next = type(of: given) == nodeType ? given : watchedMerge(merged, given)
      if type(of: next) == nodeType {
        merged = next
      } else {
        report(
          .wrongType, node, "`merge` returned a \(type(of: next)), so the model stays unchanged")
      }
    }
    if let last = carried.given.last, !merged.isEqual(to: last) { mergesOddly = true }
    return merged
  }

  /// Merges a model of another type, and reports the fields that can't be merged.
  private mutating func watchedMerge(_ node: any Model, _ given: any Model) -> any Model {
    let watch = MergeWatch()
    let merged = MergeWatch.$current.withValue(watch) { node.merge(given) }
    for fault in watch.takeFaults() {
      let fields = fault.kept.isEmpty ? "all" : "\(fault.kept.joined(separator: ", "))"
      report(
        .mergeFailed, fault.older,
        "a \(type(of: fault.newer)) can't be merged into it; unchanged fields: \(fields)")
    }
    return merged
  }

  /// Saves a replacement for the delegate.
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

  /// Returns true if the update has a node in its current state.
  mutating func isUnchanged(_ node: any Model, _ key: ByteString) -> Bool {
    guard let carried = carried(key), !carried.hasLost(type(of: node)) else { return false }
    return !differs(node, carried)
  }

  /// Returns true if the update's version of a node differs from it.
  mutating func differs(_ node: any Model, _ carried: Carried) -> Bool {
    !replacement(of: node, carried).isEqual(to: node)
  }
}
