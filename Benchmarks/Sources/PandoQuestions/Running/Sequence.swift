import Foundation
import Pando

/// A difference between two sides.
struct Finding: Error, CustomStringConvertible {
  /// The sides that differ.
  let sides: String
  let commit: Int
  let asked: Int
  let text: String

  var description: String { "commit \(commit), question \(asked): \(sides): \(text)" }
}

/// The state after a commit.
struct State {
  let world: World
  let items: [Item]
  let commit: Int
  let isUndo: Bool
  let isLast: Bool
  /// Whether another process or store has made it.
  let isOfOthers: Bool
}

/// Runs one sequence.
struct SequenceRun {
  let plan: Plan
  let mistake: Mistake?
  let stores: Stores

  func run() async throws {
    do {
      let store = try await stores.store(for: plan.writer)
      try await run(store)
      try clear(store)
    } catch {
      try await stores.renew()
      throw error
    }
  }

  private func run(_ store: ModelStore) async throws {
    try change(plan.indexes, instead: [], store)
    try stores.sqlite.begin(withWords: plan.asked.contains { $0.selection.condition.isSearch })
    var watched: [Watched] = []
    func watch(from count: Int) throws {
      for (index, asked) in plan.asked.enumerated() where asked.start == count {
        let database = stores.sqlite.database
        watched.append(try Watched(index, asked, plan, store, database, mistake))
      }
    }
    try watch(from: 0)
    var history = History(plan)
    while let step = history.next() {
      if let later = plan.laterIndexes, later.commit == step.number {
        try change(later.indexes, instead: plan.indexes, store)
      }
      // Every second commit is the other writer's.
      let isOfOthers = ![.none, .disk].contains(plan.writer) && step.number % 2 == 1
      try await write(step, isOfOthers ? plan.writer : .none, store)
      try stores.sqlite.store(history.world)
      try watch(from: step.number + 1)
      let state = State(
        world: history.world, items: history.world.items, commit: step.number,
        isUndo: step.isUndo, isLast: step.isLast, isOfOthers: isOfOthers)
      for watched in watched { try await watched.check(state) }
    }
  }

  private func change(
    _ indexes: [Plan.Index], instead former: [Plan.Index], _ store: ModelStore
  ) throws {
    if indexes.isEmpty, former.isEmpty { return }
    try store.write { transaction in
      for index in former { try transaction.dropIndex(on: index.fields, ofType: "Item") }
      for index in indexes {
        try transaction.addIndex(
          on: index.fields, ofType: "Item", unique: index.isUnique, sums: index.sums)
      }
    }
  }

  private func clear(_ store: ModelStore) throws {
    let indexes = plan.indexes + (plan.laterIndexes?.indexes ?? [])
    try store.write { transaction in
      try transaction.removeAll()
      for index in indexes { try transaction.dropIndex(on: index.fields, ofType: "Item") }
    }
  }

  /// Makes a commit, which a unique index refuses or not.
  private func write(_ step: History.Step, _ writer: Writer, _ store: ModelStore) async throws {
    do {
      if writer == .none {
        try commit(step.calls, store)
      } else {
        try await stores.write(step.calls, by: writer, plan, commit: step.number)
      }
    } catch let error as StoreError where error.code == .valueTaken && step.isRefused {
      return
    } catch is ValueTaken where step.isRefused {
      return
    }
    if step.isRefused {
      throw Finding(
        sides: "write", commit: step.number, asked: -1, text: "equal codes were committed")
    }
  }

  private func commit(_ calls: [Call], _ store: ModelStore) throws { try store.commit(calls) }
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
    case .setRemark(let remark): try transaction.set(remark)
    case .deleteRemark(let id): try transaction.delete(Remark.key(id))
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
