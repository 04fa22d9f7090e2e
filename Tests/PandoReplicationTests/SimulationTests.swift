import PandoFixtures
import Testing

/// Three to five replicas, with delays, lost answers, duplicates, partitions and crashes between any two steps.
@Suite struct SimulationTests {
  @Test(arguments: seeds(100))
  func `what was acknowledged is there once, and all replicas are equal`(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      let simulation = Simulation(seed: seed, folder: path, judges: true)
      let problem = try simulation.run()
      #expect(problem == nil, "seed \(seed): \(simulation.events.joined(separator: ", "))")
    }
  }

  /// The control: without judging, what one writes another one overwrites without having seen it.
  @Test func `replicas that do not judge lose what was acknowledged`() throws {
    var found = 0
    for seed in UInt64(0)..<40 {
      try withTemporaryDirectory { path in
        let simulation = Simulation(seed: seed, folder: path, judges: false)
        if try simulation.run() != nil { found += 1 }
      }
    }
    #expect(found > 0)
  }
}
