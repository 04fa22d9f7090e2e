import PandoModels
import PandoStore

/// Trees to write in one transaction, or in several if the store refuses some.
struct ImportWrite: Sendable {
  /// A tree that the store refused.
  struct Refusal: Sendable {
    /// The line in the input.
    let line: Int
    /// The reason.
    let error: CommandError
  }

  /// The result of a write.
  struct Outcome: Sendable {
    var commitCount = 0
    var insertedCount = 0
    var updatedCount = 0
    /// The trees left out, in the order of their lines.
    var refusals: [Refusal] = []

    fileprivate mutating func count(_ changes: ChangeSet?) {
      commitCount += 1
      insertedCount += changes?.inserted.count ?? 0
      updatedCount += changes?.updated.count ?? 0
    }
  }

  /// The number of attempts without refused trees, before the trees are divided.
  private static let tryCountMaximum = 8

  /// The trees, in order.
  var trees: [TreeNode] = []
  /// The line of each tree, for input read line by line.
  var lines: [Int] = []
  /// The collection to append the trees to, if any.
  let collection: String?
  /// The rules to store with the trees.
  let mapping: ImportMapping
  /// Whether to leave out a refused tree, instead of ending the import.
  var skipsRefused = false
  /// Whether a node occurs with differing contents; the last one counts.
  var repeatsNodes = false

  /// Writes the trees; without ``skipsRefused``, all or none.
  ///
  /// The store checks unique indexes at the end of a transaction, so that nodes can exchange
  /// values. With ``skipsRefused``, a refused transaction is repeated without the trees of the
  /// refused values. After several refusals, each half is written separately.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - progress: Called with the number of trees done.
  /// - Returns: The changes, and the trees left out.
  /// - Throws: Errors of the store; for a refused tree, with the tree's line.
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
        // A transaction without trees still stores the rules.
        if chosen.isEmpty, outcome.commitCount + pending.count > 0 { break }
      }
    }
    outcome.refusals.sort { $0.line < $1.line }
    return outcome
  }

  /// Writes some of the trees in one transaction.
  ///
  /// - Throws: ``Conflicts`` if a unique index refuses some; then nothing is written.
  private func write(
    _ chosen: [Int], to store: ModelStore, _ progress: @escaping @Sendable (Int) -> Void
  ) async throws -> (result: [Refusal], changeSet: ChangeSet?) {
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

  /// Returns the stored rules, and the stored nodes of the trees.
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
  /// The store refuses a tree before it writes any of it, so the transaction can continue.
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

/// The error of a transaction whose end state equals its start: a node had other contents in
/// between.
private struct Unchanged: Error {
  let refusals: [ImportWrite.Refusal]
}

/// The trees of a transaction that a unique index refuses.
private struct Conflicts: Error {
  /// The trees to leave out, by index; empty if none of them has a refused value.
  private(set) var refused: [Int: CommandError] = [:]
  /// The reason if no tree has a refused value.
  private(set) var other: CommandError?

  /// Finds the trees to leave out: those that share a value with a stored node, or with an earlier
  /// tree that is not left out.
  init(_ taken: [TakenValue], _ trees: [TreeNode], _ written: [Int]) {
    var writers: [ByteString: Int] = [:]
    for index in written {
      trees[index].forEachNode { writers[ByteString($0.identifier)] = index }
    }
    // By tree, the identifiers of nodes with a taken value; by value, the node that keeps it.
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

  /// Returns the error of the first refused tree.
  func firstError(_ lines: [Int]) -> CommandError {
    guard let (index, error) = refused.min(by: { $0.key < $1.key }) else {
      return other ?? CommandError(.badInput, "a unique index refuses a value")
    }
    return index < lines.count ? error.placed(in: "line \(lines[index])") : error
  }
}

extension TreeNode {
  /// Calls a closure with the node and all nodes inside it.
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
