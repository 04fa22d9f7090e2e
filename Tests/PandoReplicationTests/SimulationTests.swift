import PandoFixtures
import PandoSystem
import Testing

/// Three to five replicas, with delays, lost answers, duplicates, partitions and crashes between any two steps.
@Suite struct SimulationTests {
  private static let seeds = PandoFixtures.seeds(50)
  /// How many runs there have been, and how often each trouble has occurred in them.
  private static let faults = Locked((runCount: 0, counts: [Simulation.Fault: Int]()))

  @Test(arguments: seeds)
  func `each acknowledged write exists once, and all replicas are equal`(seed: UInt64) throws {
    try withTemporaryDirectory { path in
      let simulation = Simulation(seed: seed, folder: path, judges: true)
      let problem = try simulation.run()
      #expect(problem == nil, "seed \(seed): \(simulation.events.joined(separator: ", "))")
      expectAllFaults(simulation)
    }
  }

  /// Looks, behind the last of all seeds, whether each trouble has occurred: a run without any shows little.
  private func expectAllFaults(_ simulation: Simulation) {
    let (runCount, counts) = Self.faults.withLock { faults in
      faults.runCount += 1
      faults.counts.merge(simulation.faults, uniquingKeysWith: +)
      return faults
    }
    // Few seeds need not bring all.
    guard Self.seeds.count >= 50, runCount % Self.seeds.count == 0 else { return }
    for fault in Simulation.Fault.allCases {
      #expect(counts[fault] ?? 0 > 0, "\(fault) did not occur in \(runCount) runs")
    }
  }

  /// The control: without judging, what one writes another one overwrites without having seen it.
  @Test func `replicas that do not judge lose acknowledged writes`() throws {
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
