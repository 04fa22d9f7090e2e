import PandoModels
import PandoStore

/// Trees that go into a store in one transaction.
struct ImportWrite: Sendable {
  /// A tree that the store refused.
  struct Refusal: Sendable {
    /// Its line in the input.
    let line: Int
    /// Why.
    let error: CommandError
  }

  typealias Commit = ModelStore.Commit<[Refusal]>

  /// The trees, in order.
  var trees: [TreeNode] = []
  /// The line of each tree, where the input is read line by line.
  var lines: [Int] = []
  /// The collection that they are appended to, if any.
  let collection: String?
  /// The rules that are kept with them.
  let mapping: ImportMapping
  /// Whether a tree that the store refuses is left out, instead of ending the import.
  var skipsRefused = false

  /// Writes the trees, or nothing.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - progress: Told how many trees are done.
  /// - Returns: What changed, and the trees that were left out.
  /// - Throws: What the store throws; for a tree that it refuses, with the tree's line.
  func commit(
    to store: ModelStore, progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> Commit {
    try await store.commit { transaction in
      try transaction.keep(mapping)
      var elements: [TreeValue] = []
      var refusals: [Refusal] = []
      for (index, tree) in trees.enumerated() {
        if let refusal = try set(tree, at: index, &transaction) {
          refusals.append(refusal)
        } else if collection != nil {
          elements.append(.reference(identifier: tree.identifier, typeName: tree.typeName))
        }
        progress(index + 1)
      }
      if let collection { try transaction.append(elements, toCollection: collection) }
      return refusals
    }
  }

  /// Stores a tree.
  ///
  /// The store refuses a tree before it writes any of it, so the transaction can go on without.
  private func set(
    _ tree: TreeNode, at index: Int, _ transaction: inout ModelTransaction
  ) throws -> Refusal? {
    do {
      try transaction.set(tree)
      return nil
    } catch {
      let error = CommandError(wrapping: error)
      guard index < lines.count, error.exitCode == .badInput else { throw error }
      guard skipsRefused else { throw error.placed(in: "line \(lines[index])") }
      return Refusal(line: lines[index], error: error)
    }
  }
}
