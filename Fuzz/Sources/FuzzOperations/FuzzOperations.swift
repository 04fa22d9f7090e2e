import Foundation
import FuzzSupport
import Pando
import PandoFixtures

/// Bytes as operations on a store and on the naive reference of the store's own tests; compared after
/// every commit, with all checks of the store.
///
/// Some are calls of providers, which must also show what the store holds.
@main enum FuzzOperations {
  private static let stepMaximum = 16

  static func main() {
    let directory = FuzzDirectory.make("fuzz-operations")
    FuzzTarget.run { bytes in
      try? FileManager.default.removeItem(atPath: "\(directory)/store")
      do {
        try run(bytes, "\(directory)/store")
      } catch {
        FuzzTarget.fail("the store and the reference differ: \(error)")
      }
    }
  }

  private static func run(_ bytes: [UInt8], _ path: String) throws {
    let usesModels = (bytes.first ?? 0) & 1 == 1
    let hasProviders = usesModels && (bytes.first ?? 0) & 2 == 2
    SeededGenerator.take(Array(bytes.dropFirst()))
    var operations = OperationMaker(seed: 0, usesModels: usesModels)
    var run = try ModelRun(path: path, seed: 0, usesModels: usesModels)
    var live = hasProviders ? try LiveRun(run.store) : nil
    defer {
      try? live?.end()
      run.store.close()
    }
    for step in 0..<stepMaximum where !SeededGenerator.isExhausted {
      run.step = step
      if operations.trees.chance(4) {
        FuzzTarget.trace("\(step): reopening")
        try live?.end()
        try run.reopen()
        live = hasProviders ? try LiveRun(run.store) : nil
      }
      if let live, operations.trees.chance(60) {
        try live.perform(on: &run, &operations)
      } else {
        let planned = try run.plan(&operations)
        let isThrown = operations.trees.chance(10)
        FuzzTarget.trace("\(step): \(isThrown ? "throwing " : "")\(planned)")
        try run.perform(planned, isThrown: isThrown)
        try live?.check(run.store)
      }
      FuzzTarget.canary(run.reference.nodes.count >= 5)
    }
    try live?.end()
    live = nil
    if operations.trees.chance(20) { try run.checkDump() }
  }
}
