import PandoModels
import PandoStore

/// Trees that go into a store in one transaction, but for those that it refuses.
struct ImportWrite: Sendable {
  /// A tree that the store refused.
  struct Refusal: Sendable {
    /// Its line in the input.
    let line: Int
    /// Why.
    let error: CommandError
  }

  /// What became of the trees.
  struct Outcome: Sendable {
    var commitCount = 0
    var insertedCount = 0
    var updatedCount = 0
    /// The trees that were left out, in the order of their lines.
    var refusals: [Refusal] = []

    fileprivate mutating func count(_ changes: ChangeSet?) {
      commitCount += 1
      insertedCount += changes?.inserted.count ?? 0
      updatedCount += changes?.updated.count ?? 0
    }
  }

  /// How often some trees are tried again without those that were refused, before they are parted.
  private static let tryCountMaximum = 8

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
  /// Whether a node occurs in the trees with differing contents, of which the last counts.
  var repeatsNodes = false

  /// Writes the trees, or nothing.
  ///
  /// Unique indexes are compared at the end of a transaction, so that nodes can change values with one
  /// another. A transaction that they refuse is tried again without the trees of the values that they
  /// refuse. Where that does not end, each half is tried by itself.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - progress: Told how many trees are done.
  /// - Returns: What changed, and the trees that were left out.
  /// - Throws: What the store throws; for a tree that it refuses, with the tree's line.
  func commit(
    to store: ModelStore, progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> Outcome {
    var outcome = Outcome()
    var pending = [Array(trees.indices)]
    while var chosen = pending.popLast() {
      for tryCount in 1... {
        let conflicts: Conflicts
        do {
          let commit = try await write(chosen, to: store, progress)
          outcome.count(commit.changeSet)
          outcome.refusals += commit.result
          break
        } catch let unchanged as Unchanged {
          outcome.count(nil)
          outcome.refusals += unchanged.refusals
          break
        } catch let error as Conflicts {
          conflicts = error
        }
        guard skipsRefused else { throw conflicts.firstError(lines) }
        if chosen.count > 1, tryCount == Self.tryCountMaximum || conflicts.refused.isEmpty {
          let middle = chosen.count / 2
          pending += [Array(chosen[middle...]), Array(chosen[..<middle])]
          break
        }
        chosen = chosen.filter { index in
          guard let error = conflicts.refused[index] ?? (chosen.count == 1 ? conflicts.other : nil)
          else { return true }
          outcome.refusals.append(Refusal(line: lines[index], error: error))
          return false
        }
        // A transaction without trees still leaves the rules in the store.
        if chosen.isEmpty, outcome.commitCount + pending.count > 0 { break }
      }
    }
    outcome.refusals.sort { $0.line < $1.line }
    return outcome
  }

  /// Writes some of the trees in one transaction.
  ///
  /// - Throws: ``Conflicts`` where a unique index refuses some, and nothing is written then.
  private func write(
    _ chosen: [Int], to store: ModelStore, _ progress: @escaping @Sendable (Int) -> Void
  ) async throws -> ModelStore.Commit<[Refusal]> {
    try await store.commit { transaction in
      try transaction.keep(mapping)
      var elements: [TreeValue] = []
      var refusals: [Refusal] = []
      var written: [Int] = []
      for (count, index) in chosen.enumerated() {
        let tree = trees[index]
        if let refusal = try set(tree, at: index, &transaction) {
          refusals.append(refusal)
        } else {
          written.append(index)
          elements.append(.reference(identifier: tree.identifier, typeName: tree.typeName))
        }
        progress(count + 1)
      }
      if let collection { try transaction.append(elements, toCollection: collection) }
      let taken = try transaction.takenValues()
      if !taken.isEmpty { throw Conflicts(taken, trees, written) }
      if repeatsNodes, collection == nil,
        try contents(of: written, in: transaction.snapshot)
          == store.read({ try contents(of: written, in: $0) })
      {
        throw Unchanged(refusals: refusals)
      }
      return refusals
    }
  }

  /// What a store has of the trees: the rules, and each node by itself.
  private func contents(
    of chosen: [Int], in snapshot: borrowing ModelSnapshot
  ) throws -> [TreeNode?] {
    var identifiers: Set<ByteString> = []
    for index in chosen {
      trees[index].forEachNode { identifiers.insert(ByteString($0.identifier)) }
    }
    let rules = try snapshot.importMapping().treeValue
    var contents: [TreeNode?] = [TreeNode("rules", type: "rules", fields: rules)]
    for identifier in identifiers.map(\.text).sorted(by: {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }) {
      for typeName in try snapshot.typeNames(of: identifier) {
        contents.append(try snapshot.tree(identifier, as: typeName, depth: 0))
      }
      contents.append(nil)
    }
    return contents
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

/// A transaction at whose end everything is as it was: a node has got other contents on the way, and then
/// its own again.
private struct Unchanged: Error {
  let refusals: [ImportWrite.Refusal]
}

/// The trees that a unique index refuses beside the others of a transaction.
private struct Conflicts: Error {
  /// The trees to leave out, by their indexes; empty if none of them holds what is refused.
  private(set) var refused: [Int: CommandError] = [:]
  /// The reason where none of the trees does.
  private(set) var other: CommandError?

  /// Finds the trees to leave out: those that have a value which a stored node has, or a tree that
  /// comes earlier and is not left out itself.
  init(_ taken: [TakenValue], _ trees: [TreeNode], _ written: [Int]) {
    var writers: [ByteString: Int] = [:]
    for index in written {
      trees[index].forEachNode { writers[ByteString($0.identifier)] = index }
    }
    // By trees, the identifiers of nodes with a taken value, and by values the one that keeps it.
    var holders: [Int: [(value: Int, identifier: String)]] = [:]
    var keepers: [Int: String] = [:]
    for (number, value) in taken.enumerated() {
      for identifier in value.holders {
        if let writer = writers[ByteString(identifier)] {
          holders[writer, default: []].append((number, identifier))
        } else if let keeper = keepers[number] {
          other = other ?? Self.error(value, of: identifier, keptBy: keeper)
        } else {
          keepers[number] = identifier
        }
      }
    }
    for (index, held) in holders.sorted(by: { $0.key < $1.key }) {
      var kept: [Int: String] = [:]
      for (number, identifier) in held {
        guard let keeper = keepers[number] ?? kept[number] else {
          kept[number] = identifier
          continue
        }
        refused[index] = Self.error(taken[number], of: identifier, keptBy: keeper)
        break
      }
      if refused[index] == nil { keepers.merge(kept) { first, _ in first } }
    }
  }

  private static func error(
    _ value: TakenValue, of identifier: String, keptBy keeper: String
  ) -> CommandError {
    CommandError(
      .badInput, at: identifier, value.reason(other: keeper), remedy: "nothing was changed")
  }

  /// The error of the first tree that is refused.
  func firstError(_ lines: [Int]) -> CommandError {
    guard let (index, error) = refused.min(by: { $0.key < $1.key }) else {
      return other ?? CommandError(.badInput, "a unique index refuses a value")
    }
    return index < lines.count ? error.placed(in: "line \(lines[index])") : error
  }
}

extension TreeNode {
  /// Calls a closure with the node and all that lie in it.
  fileprivate func forEachNode(_ body: (TreeNode) -> Void) {
    var open: [TreeValue] = [.node(self)]
    while let value = open.popLast() {
      switch value {
      case .node(let node):
        body(node)
        open.append(node.fields)
      case .required(let value): open.append(value)
      case .array(let values): open += values
      case .object(let fields): open += fields.values
      case .entries(let entries): open += entries.values
      default: break
      }
    }
  }
}
