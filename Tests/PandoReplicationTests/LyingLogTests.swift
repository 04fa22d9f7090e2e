import PandoFixtures
import PandoReplication
import PandoStore
import PandoSystem
import Testing

/// Two to five replicas over a log that loses, repeats and mixes up what it has acknowledged.
@Suite struct LyingLogTests {
  /// Seeds of which one test case tries some.
  private static let blocks: [Range<UInt64>] = {
    let seeds = PandoFixtures.seeds(100)
    let size = max(1, min(1000, UInt64(seeds.count) / 8))
    return stride(from: seeds.lowerBound, to: seeds.upperBound, by: Int(size)).map {
      $0..<min($0 + size, seeds.upperBound)
    }
  }()
  private static let lies = Locked((blockCount: 0, counts: [Lie: Int]()))

  @Test(arguments: blocks)
  func `every replica ends equal or says why it has stopped, within ten seconds`(
    seeds: Range<UInt64>
  ) throws {
    var told: [Lie: Int] = [:]
    for seed in seeds {
      try withTemporaryDirectory { path in
        let simulation = LyingSimulation(seed: seed, folder: path)
        let problem = try simulation.run()
        #expect(problem == nil, "seed \(seed): \(simulation.events.joined(separator: "\n"))")
        told.merge(simulation.told, uniquingKeysWith: +)
      }
    }
    expectAllLies(told)
  }

  /// Looks, behind the last of all seeds, whether each lie was told.
  private func expectAllLies(_ told: [Lie: Int]) {
    let (blockCount, counts) = Self.lies.withLock { lies in
      lies.blockCount += 1
      lies.counts.merge(told, uniquingKeysWith: +)
      return lies
    }
    // Few seeds need not bring all.
    guard PandoFixtures.seeds(100).count >= 100, blockCount == Self.blocks.count else { return }
    for lie in Lie.allCases {
      #expect(counts[lie] ?? 0 > 0, "\(lie) was not told")
    }
  }

  /// A lie, and what a replica must not leave undone because of it.
  struct Canary: CustomTestStringConvertible, Sendable {
    let lies: [Lie]
    let omissions: Set<ReplicaOmission>
    let mistakes: Set<Lie>

    init(_ lies: [Lie], _ omissions: Set<ReplicaOmission>, mistakes: Set<Lie> = []) {
      (self.lies, self.omissions, self.mistakes) = (lies, omissions, mistakes)
    }

    var testDescription: String { "\(lies) without \(omissions), with \(mistakes)" }
  }

  private static let canaries = [
    Canary([.lostEnd], [.lastMessage]), Canary([.lostMiddle], [.gaps, .origins, .lastMessage]),
    Canary([.twoHistories], [.lastMessage]), Canary([.twoHistories], [.marks]),
    Canary([.lostStream], [.lastMessage]), Canary([.emptied], [.lastMessage]),
    Canary([.damagedCopy, .lateJoiner], [.pages]), Canary([.newProgram], [.versions]),
    Canary([.clockJump, .lostEnd], [], mistakes: [.clockJump]),
    Canary([.fullDisk], [], mistakes: [.fullDisk]),
    Canary([.oldProgram, .lostEnd], [.origins]), Canary([.lostEnd, .retention], [.copies]),
  ]

  /// The control: the simulation sees it if a replica leaves undone what a lie needs.
  @Test(arguments: sample(canaries, 2))
  func `a replica that leaves something undone is seen`(canary: Canary) throws {
    var found = 0
    for seed in UInt64(0)..<400 where found == 0 {
      withTemporaryDirectory { path in
        let simulation = LyingSimulation(
          seed: seed, folder: path, lies: canary.lies, omissions: canary.omissions,
          mistakes: canary.mistakes)
        let problem = Result { try simulation.run() }
        if case .success(nil) = problem { return }
        found += 1
      }
    }
    #expect(found > 0)
  }
}
