import PandoFixtures
import PandoModels
import PandoReplication
import PandoSystem
import Testing

@testable import PandoStore

/// Writes that make an entry larger than a log takes; the limit is lowered.
@Suite struct EntrySizeTests {
  private func configuration(_ byteCount: Int) -> ReplicaConfiguration {
    var configuration = ReplicaConfiguration.forTests
    configuration.entryByteCountMaximum = byteCount
    return configuration
  }

  /// A leaf with a text of some bytes.
  private func leaf(_ id: String, _ byteCount: Int) -> Leaf {
    Leaf(id: id, text: String(repeating: "x", count: byteCount))
  }

  @Test func `an entry has 64 MiB at most by default`() {
    #expect(ReplicaConfiguration().entryByteCountMaximum == 64 << 20)
    #expect(EntryLimits.entryByteCount == 64 << 20)
    #expect(ReplicaConfiguration().messageByteCountMaximum == 512 << 10)
  }

  @Test func `a write that is too large fails, changes nothing, and the next one works`() throws {
    let log = MemoryLog()
    let small = leaf("1", 100)
    let large = leaf("1", 5000)
    try withReplicas(2, on: log, configuration(4096)) { replicas in
      try replicas[0].store.write { try $0.set(small) }
      let (messages, lines) = (log.messages, try replicas[0].dump())
      let commit = try replicas[0].store.read { try $0.commitNumber.value }
      for _ in 0..<2 {
        let error = #expect(throws: StoreError.self) {
          try replicas[0].store.write { transaction in
            try transaction.set(large)
            try transaction.set(Card(id: "new", leaves: [large]))
          }
        }
        #expect(error?.code == .entryTooLarge)
        #expect(error?.description.contains("4096 are the most") == true, "\(error as Any)")
        #expect(log.messages == messages)
        #expect(try replicas[0].dump() == lines)
        #expect(try replicas[0].store.read { try $0.commitNumber.value } == commit)
      }
      try replicas[0].store.write { try $0.set(Card(id: "next", leaves: [small])) }
      #expect(replicas[0].replica.statistics.direct == 2)
      try replicas[1].replica.catchUp()
      #expect(try replicas[1].dump() == replicas[0].dump())
      #expect(try replicas[1].store.read { try $0.get("Card:new", as: Card.self) } == nil)
      for replica in replicas { #expect(try replica.store.verify().isClean) }
    }
  }

  /// What a write takes in the log is what counts, with all that is around it.
  @Test func `an entry may be as large as the limit, and not a byte larger`() throws {
    func write(_ maximum: Int) throws -> Int {
      let log = MemoryLog()
      let leaf = leaf("1", 1000)
      try withReplicas(1, on: log, configuration(maximum)) { replicas in
        try replicas[0].store.write { try $0.set(leaf) }
      }
      return log.messages[1].count
    }
    let byteCount = try write(EntryLimits.entryByteCount)
    #expect(try write(byteCount) == byteCount)
    let error = #expect(throws: StoreError.self) { try write(byteCount - 1) }
    #expect(error?.code == .entryTooLarge)
  }

  /// Hands in writes that share a flush.
  ///
  /// - Returns: What became of each.
  private func share(_ leaves: [Leaf], _ store: ModelStore) throws -> [StoreError.Code?] {
    let outcomes = Locked<[String: StoreError.Code]>([:])
    let isFirst = Locked(true)
    let first = Result {
      try store.write { transaction in
        if isFirst.withLock({ exchange(&$0, with: false) }) {
          for leaf in leaves.dropFirst() {
            let job = WriteJob(context: nil) {
              try $0.set(leaf)
            } completion: { result in
              guard case .failure(let error as StoreError) = result else { return }
              outcomes.withLock { $0[leaf.id] = error.code }
            }
            try store.writer?.submit(job)
          }
        }
        try transaction.set(leaves[0])
      }
    }
    try store.write { _ in }
    if case .failure(let error as StoreError) = first {
      outcomes.withLock { $0[leaves[0].id] = error.code }
    }
    return outcomes.withLock { outcomes in leaves.map { outcomes[$0.id] } }
  }

  @Test(arguments: 0..<3)
  func `a write that is too large costs those nothing that share its flush`(index: Int) throws {
    let log = MemoryLog()
    var leaves = ["0", "1", "2"].map { leaf($0, 100) }
    leaves[index] = leaf("\(index)", 5000)
    try withReplicas(2, on: log, configuration(4096)) { replicas in
      let outcomes = try share(leaves, replicas[0].store)
      #expect(outcomes == (0..<3).map { $0 == index ? .entryTooLarge : nil })
      try replicas[1].replica.catchUp()
      for (number, leaf) in leaves.enumerated() {
        let found = try replicas[1].store.read { try $0.get("Leaf:\(number)", as: Leaf.self) }
        #expect(found == (number == index ? nil : leaf))
      }
      #expect(try replicas[1].dump() == replicas[0].dump())
    }
  }

  @Test func `writes that are too large together go by themselves`() throws {
    let log = MemoryLog()
    try withReplicas(2, on: log, configuration(4096)) { replicas in
      let outcomes = try share(["0", "1", "2"].map { leaf($0, 3000) }, replicas[0].store)
      #expect(outcomes == [nil, nil, nil])
      #expect(log.messages.count == 1 + 3)
      try replicas[1].replica.catchUp()
      #expect(try replicas[1].dump() == replicas[0].dump())
    }
  }
}
