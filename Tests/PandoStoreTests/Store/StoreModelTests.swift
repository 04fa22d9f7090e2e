import PandoFixtures
import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem
import Testing

/// Random writes on a store and on a plain dictionary of nodes must never differ.
@Suite struct StoreModelTests {
  private static let stepCount = InternalChecks.areOn ? 30 : 80

  @Test(.overBothBackings, arguments: seeds(2))
  func `random writes of untyped trees match a dictionary of nodes`(seed: UInt64) throws {
    try check(seed: seed, usesModels: false)
  }

  @Test(.overBothBackings, arguments: seeds(2))
  func `random writes of Swift values match a dictionary of nodes`(seed: UInt64) throws {
    try check(seed: seed, usesModels: true)
  }

  private func check(seed: UInt64, usesModels: Bool) throws {
    try withTemporaryDirectory { path in
      var operations = OperationMaker(seed: seed, usesModels: usesModels)
      var run = try ModelRun(path: path, seed: seed, usesModels: usesModels)
      defer { run.store.close() }
      do {
        for step in 0..<Self.stepCount {
          run.step = step
          if operations.trees.chance(4) { try run.reopen() }
          let steps = try run.plan(&operations)
          try run.perform(steps, isThrown: operations.trees.chance(10))
        }
        try run.checkDump()
      } catch {
        Issue.record("\(run.place): \(error)")
      }
    }
  }
}
