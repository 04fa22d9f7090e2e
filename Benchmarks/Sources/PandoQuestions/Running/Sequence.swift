import Foundation
import Pando

/// What a check has found.
struct Finding: Error, CustomStringConvertible {
  /// The sides that differ.
  let sides: String
  let commit: Int
  let asked: Int
  let text: String

  var description: String { "commit \(commit), question \(asked): \(sides): \(text)" }
}

/// The stores that sequences share, for one task at a time.
final class Stores {
  let sqlite: SQLiteItems
  private var memory: ModelStore
  private var disk: ModelStore?
  private var useCount = 0

  init() throws {
    sqlite = try SQLiteItems()
    memory = try ModelStore.inMemory()
  }

  /// An empty store.
  func store(onDisk: Bool) throws -> ModelStore {
    useCount += 1
    if useCount.isMultiple(of: 500) {
      memory.close()
      memory = try ModelStore.inMemory()
    }
    if !onDisk { return memory }
    if let disk { return disk }
    var configuration = ModelStore.Configuration()
    configuration.durability = .unsynchronized
    let made = try ModelStore.temporary(configuration: configuration)
    disk = made
    return made
  }

  /// Takes other stores for the next sequences, after a failure.
  func renew() throws {
    memory.close()
    memory = try ModelStore.inMemory()
    disk?.close()
    disk = nil
  }
}

/// Runs one sequence.
struct SequenceRun {
  let plan: Plan
  let mistake: Mistake?
  let stores: Stores

  func run() async throws {
    let store = try stores.store(onDisk: plan.usesDisk)
    do {
      try await run(store)
      try clear(store)
    } catch {
      try stores.renew()
      throw error
    }
  }

  private func run(_ store: ModelStore) async throws {
    try addIndexes(store)
    try stores.sqlite.begin(withWords: plan.asked.contains { $0.selection.condition.isSearch })
    var watched: [Watched] = []
    func watch() throws {
      watched = try plan.asked.enumerated().map { index, asked in
        try Watched(index, asked, plan, store, stores.sqlite.database, mistake)
      }
    }
    if plan.isFollowedFirst { try watch() }
    var (world, former) = (World(), World())
    let isUnique = plan.indexes.contains { $0.isUnique }
    let commits = [plan.start.map { Change.set($0) }] + plan.commits
    for (number, changes) in commits.enumerated() {
      var next = world
      let calls = changes.flatMap { next.apply($0, after: former) }
      if try write(calls, isUnique && next.hasEqualCodes, number, store) {
        (former, world) = (world, next)
        try stores.sqlite.store(world)
      }
      if !plan.isFollowedFirst, number == 0 { try watch() }
      let isUndo = changes.contains { if case .undo = $0 { true } else { false } }
      let state = State(world: world, items: world.items, commit: number, isUndo: isUndo)
      for watched in watched { try await watched.check(state) }
    }
  }

  private func addIndexes(_ store: ModelStore) throws {
    let indexes = plan.indexes
    if indexes.isEmpty { return }
    try store.write { transaction in
      for index in indexes {
        try transaction.addIndex(
          on: index.fields, ofType: "Item", unique: index.isUnique, sums: index.sums)
      }
    }
  }

  private func clear(_ store: ModelStore) throws {
    let indexes = plan.indexes
    try store.write { transaction in
      try transaction.removeAll()
      for index in indexes { try transaction.dropIndex(on: index.fields, ofType: "Item") }
    }
  }

  /// Commits changes.
  ///
  /// - Returns: Whether they were committed, and not refused.
  private func write(
    _ calls: [Call], _ isRefused: Bool, _ number: Int, _ store: ModelStore
  ) throws -> Bool {
    do {
      try store.write { transaction in
        for call in calls { try call.make(&transaction) }
      }
    } catch let error as StoreError where error.code == .valueTaken && isRefused {
      return false
    }
    if isRefused {
      throw Finding(sides: "write", commit: number, asked: -1, text: "equal codes were committed")
    }
    return true
  }
}

extension Call {
  private struct RollBack: Error {}

  func make(_ transaction: inout ModelTransaction) throws {
    switch self {
    case .set(let item): try transaction.set(item)
    case .update(let item): try transaction.update(Item.key(item.id)) { $0 = item }
    case .delete(let id): try transaction.delete(Item.key(id))
    case .setPerson(let person): try transaction.set(person)
    case .deletePerson(let id): try transaction.deleteIfPresent(Person.key(id))
    case .rolledBack(let calls):
      do {
        try transaction.nested { transaction in
          for call in calls { try call.make(&transaction) }
          throw RollBack()
        }
      } catch is RollBack {}
    }
  }
}

/// What a commit has left.
struct State {
  let world: World
  let items: [Item]
  let commit: Int
  let isUndo: Bool
}
