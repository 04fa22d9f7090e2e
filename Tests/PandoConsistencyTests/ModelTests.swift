import PandoConsistency
import PandoFixtures
import PandoModels
import PandoSystem
import Testing

/// The manager against a reference that works everything out in full.
@Suite struct ModelTests {
  @Test(arguments: seeds(4))
  func `random steps of one thread match the reference`(seed: UInt64) async throws {
    let run = ReferenceRun(seed: seed)
    for step in 0..<200 {
      await run.step()
      guard step % 25 == 24 else { continue }
      await run.manager.drain()
      for (number, listener) in run.listeners.enumerated() {
        let calls = listener.calls.map { ReferenceListener.Call($0) }
        let expected = run.references[number].calls
        for (index, (call, other)) in zip(calls, expected).enumerated() {
          try #require(
            call == other, "seed \(seed), step \(step), listener \(number), call \(index)")
        }
        try #require(calls.count == expected.count, "seed \(seed), step \(step), \(number)")
      }
      try #require(run.batchDelegate.calls.count == run.batchCallCount)
    }
    await run.finish()
    #expect(
      run.manager.registeredCounts
        == RegisteredCounts(nodes: 0, trees: 0, holders: 0, listeners: 0))
  }

  @Test(arguments: seeds(3))
  func `updates of several threads leave every tree as their order says`(seed: UInt64) async throws
  {
    let manager = ConsistencyManager()
    var random = SeededGenerator(seed: seed)
    var trees = RandomTree()
    let listeners = (0..<20).map { _ in Listener(trees.pick(&random)) }
    let first = listeners.compactMap { $0.shown(as: Node.self) }
    let updates = UpdatesListener()
    manager.addUpdatesListener(updates)
    for listener in listeners { manager.addListener(listener) }
    for round in 0..<3 {
      try onThreads(4) { thread in
        var random = SeededGenerator(seed: seed * 1_000 + UInt64(round * 10 + thread))
        var trees = RandomTree()
        for _ in 0..<50 {
          let listener = listeners[Int.random(in: 0..<20, using: &random)]
          switch Int.random(in: 0..<10, using: &random) {
          case 0: manager.pauseListener(listener)
          case 1: manager.resumeListener(listener)
          case 2: manager.deleteModel(Node("n\(Int.random(in: 12..<24, using: &random))", 0))
          case 3: manager.cleanMemory()
          default:
            trees.make(Int.random(in: 0..<RandomTree.nameCount, using: &random), &random)
            manager.updateModel(trees.pick(&random))
          }
        }
      }
      for listener in listeners { manager.resumeListener(listener) }
      await manager.drain()
    }
    for (number, listener) in listeners.enumerated() {
      var expected: Node? = first[number]
      for update in updates.updates {
        let nodes = update.models.compactMap { $0 as? Node }.flatMap(\.all)
        let new = Dictionary(
          nodes.compactMap { node in node.name.map { ($0, node) } }, uniquingKeysWith: { $1 })
        let deleted = Set(update.deletedModelIdentifiers)
        expected = expected.flatMap {
          Reference.apply($0, deleted.isEmpty ? new : [:], deleted: deleted).tree
        }
      }
      let hasReturned = expected == nil && listener.model != nil
      // A root that was deleted and came back during a pause was never gone for that listener.
      if !hasReturned { #expect(listener.shown(as: Node.self)?.text == expected?.text) }
    }
  }
}

extension ReferenceListener.Call {
  init(_ call: Listener.Call) {
    self.init(
      tree: (call.model as? Node)?.text, changed: Set(call.updates.changedModelIdentifiers),
      deleted: Set(call.updates.deletedModelIdentifiers), context: call.context as? Int ?? -1)
  }
}
