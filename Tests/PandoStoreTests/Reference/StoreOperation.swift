import PandoModels
import PandoStore

/// One step of a random write, for the store and for the reference.
indirect enum StoreOperation: Sendable {
  case set(TreeNode)
  /// The same as a Swift value.
  case setModel(TreeNode)
  case merge(TreeNode)
  case delete(String)
  case setCollection(String, [TreeValue])
  case append(String, [TreeValue])
  case insert(String, [TreeValue], Int)
  case update(String, TreeValue, Int)
  case move(String, Int, Int)
  case removeElements(String, Range<Int>)
  case removeCollection(String)
  case setProperty(String, [UInt8]?)
  case prune
  case removeAll
  /// Steps in a nested transaction, which throws at the end or not.
  case nested([StoreOperation], isThrown: Bool)

  /// The error of a nested transaction.
  struct Undone: Error {}
}

extension StoreOperation {
  func apply(to transaction: inout ModelTransaction) throws {
    switch self {
    case .set(let tree): try transaction.set(tree)
    case .setModel(let tree): try Self.set(tree, in: &transaction)
    case .merge(let tree): try transaction.merge(tree)
    case .delete(let identifier): try transaction.deleteIfPresent(identifier)
    case .setCollection(let key, let values): try transaction.setCollection(key, to: values)
    case .append(let key, let values): try transaction.append(values, toCollection: key)
    case .insert(let key, let values, let index):
      try transaction.insert(values, at: index, inCollection: key)
    case .update(let key, let value, let index):
      try transaction.update(value, at: index, inCollection: key)
    case .move(let key, let source, let target):
      try transaction.moveElement(from: source, to: target, inCollection: key)
    case .removeElements(let key, let range):
      try transaction.removeElements(in: range, fromCollection: key)
    case .removeCollection(let key): try transaction.removeCollection(key)
    case .setProperty(let name, let value): try transaction.setProperty(name, to: value)
    case .prune: try transaction.prune()
    case .removeAll: try transaction.removeAll()
    case .nested(let steps, let isThrown):
      do {
        try transaction.nested { inner in
          for step in steps { try step.apply(to: &inner) }
          if isThrown { throw Undone() }
        }
      } catch is Undone {}
    }
  }

  private static func set(_ tree: TreeNode, in transaction: inout ModelTransaction) throws {
    switch tree.typeName {
    case "Doc": try transaction.set(DocModel(tree))
    case "Card": try transaction.set(CardModel(tree))
    case "Person": try transaction.set(PersonModel(tree))
    case "Badge": try transaction.set(BadgeModel(tree))
    default: try transaction.set(ImageModel(tree))
    }
  }

  func apply(to reference: inout ReferenceStore) throws {
    switch self {
    case .set(let tree), .setModel(let tree): try reference.set(tree)
    case .merge(let tree): try reference.merge(tree)
    case .delete(let identifier): reference.delete(identifier)
    case .setCollection(let key, let values): try reference.setCollection(key, to: values)
    case .append(let key, let values): try reference.append(values, toCollection: key)
    case .insert(let key, let values, let index):
      try reference.insert(values, at: index, inCollection: key)
    case .update(let key, let value, let index):
      try reference.update(value, at: index, inCollection: key)
    case .move(let key, let source, let target):
      reference.moveElement(from: source, to: target, inCollection: key)
    case .removeElements(let key, let range):
      reference.removeElements(in: range, fromCollection: key)
    case .removeCollection(let key): reference.removeCollection(key)
    case .setProperty(let name, let value): reference.properties[name] = value
    case .prune: reference.prune()
    case .removeAll: reference.removeAll()
    case .nested(let steps, let isThrown):
      var inner = reference
      for step in steps { try step.apply(to: &inner) }
      if !isThrown { reference = inner }
    }
  }
}
