import PandoFixtures
import PandoModels

/// Makes random writes that fit what a reference holds.
struct OperationMaker {
  var trees: TreeMaker
  /// Whether trees are also set as Swift values; then none lacks a field.
  let usesModels: Bool

  init(seed: UInt64, usesModels: Bool) {
    trees = TreeMaker(random: SeededGenerator(seed: seed), usesReferences: !usesModels)
    self.usesModels = usesModels
  }

  private static let keys = ["list:a", "list:b"]

  mutating func operation(_ reference: ReferenceStore, canNest: Bool = true) -> StoreOperation {
    switch Int.random(in: 0..<100, using: &trees.random) {
    case 0..<30:
      let tree = trees.tree()
      return usesModels && trees.chance(60) ? .setModel(tree) : .set(tree)
    case 30..<42:
      return usesModels ? .set(trees.tree()) : .merge(trees.tree(isPartial: true))
    case 42..<57:
      return .delete(trees.pick(TreeMaker.identifiers(of: trees.pick(TreeMaker.types))))
    case 57..<83: return collectionOperation(reference)
    case 83..<86: return .setProperty(trees.pick(["p", "q"]), trees.pick([nil, [], [1, 2]]))
    case 86..<90: return .prune
    case 90: return .removeAll
    default:
      guard canNest else { return .prune }
      var inner = reference
      var steps: [StoreOperation] = []
      for _ in 0..<trees.pick([0, 1, 3]) {
        let step = operation(inner, canNest: trees.chance(30))
        // A step that is refused would end the nest and the write with it.
        var tried = inner
        guard (try? step.apply(to: &tried)) != nil, !tried.isCyclic(with: inner) else { continue }
        inner = tried
        steps.append(step)
      }
      return .nested(steps, isThrown: trees.chance(50))
    }
  }

  private mutating func collectionOperation(_ reference: ReferenceStore) -> StoreOperation {
    let key = trees.pick(Self.keys)
    let values = (0..<trees.pick([0, 1, 2, 5])).map { _ in trees.element() }
    guard let count = reference.collections[key]?.count else {
      return trees.chance(50) ? .append(key, values) : .setCollection(key, values)
    }
    let position = Int.random(in: 0...count, using: &trees.random)
    switch Int.random(in: 0..<10, using: &trees.random) {
    case 0: return .setCollection(key, values)
    case 1: return .removeCollection(key)
    case 2, 3: return .append(key, values)
    case 4 where position < count: return .update(key, trees.element(), position)
    case 5, 6:
      guard count > 0 else { return .append(key, values) }
      return .move(key, min(position, count - 1), Int.random(in: 0..<count, using: &trees.random))
    case 7:
      let end = Int.random(in: position...count, using: &trees.random)
      return .removeElements(key, position..<end)
    default: return .insert(key, values, position)
    }
  }
}
