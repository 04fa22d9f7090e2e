import PandoLMDB
import PandoModels
import PandoStore
import PandoSystem

/// A temporary store with nodes of one shape, which is made to be measured.
struct ShapeSample {
  /// The number of bytes that the records of a sample take at most.
  private static let byteCountMaximum = 64 << 20
  /// About what an edge takes, in the record and in the dependency index.
  private static let edgeByteCount = 60
  /// The number of nodes in a sample.
  ///
  /// More take longer and change the figure little.
  private static let nodeCountRange = 1000...20_000
  private static let nodeCountPerCommit = 1000
  private static let typeName = "Node"

  /// Bytes of a record without its references.
  var recordByteCount = 200
  /// Bytes of an identifier.
  var identifierByteCount = 16
  /// How many nodes a node contains.
  var childCount = 0
  /// For each index the bytes of its values.
  var indexes: [Int] = []

  /// Makes the sample, measures it, and removes it.
  ///
  /// Identifiers, children and indexed values are in random order, as those of most services are.
  ///
  /// - Parameter nodeCount: The number of nodes to estimate.
  /// - Returns: The estimate, with a change log at its default limit.
  /// - Throws: `LMDBError` or `StoreError` if the sample can't be made, such as on a full disk.
  func estimate(nodeCount: Int) async throws -> StoreEstimate {
    let store = try ModelStore.temporary()
    let count = sampleCount(of: nodeCount)
    try await store.write { transaction in
      for number in indexes.indices {
        try transaction.addIndex(on: "i\(number)", ofType: ShapeSample.typeName)
      }
    }
    var random = RandomNumbers()
    var identifiers: [String] = []
    // A tenth are children; the others have as many of them that the average is right.
    let leafCount = max(count / 10, 1)
    var edgeCount = 0
    while identifiers.count < count {
      let nodes = (0..<min(ShapeSample.nodeCountPerCommit, count - identifiers.count)).map { _ in
        let parents = identifiers.count + 1 - leafCount
        let due = parents > 0 ? childCount * count * parents / (count - leafCount) - edgeCount : 0
        edgeCount += due
        let children = (0..<due).map { _ in identifiers[random.number(below: leafCount)] }
        let node = makeNode(children, &random)
        identifiers.append(node.identifier)
        return node
      }
      try await store.write { transaction in
        for node in nodes { try transaction.set(node) }
      }
    }
    let report = try PageWalker(path: store.path).verify()
    let changeLog = try await changeLogByteCount(in: store, identifiers)
    await store.close()
    return StoreEstimate(
      report, of: count, scaledTo: nodeCount, changeLogByteCount: changeLog)
  }

  private func sampleCount(of nodeCount: Int) -> Int {
    let byteCount =
      recordByteCount + identifierByteCount + indexes.reduce(0, +)
      + childCount * ShapeSample.edgeByteCount
    let affordable = ShapeSample.byteCountMaximum / byteCount
    let range = ShapeSample.nodeCountRange
    let count = min(max(nodeCount / 10, range.lowerBound), range.upperBound, max(affordable, 100))
    return min(count, nodeCount)
  }

  private func makeNode(_ children: [String], _ random: inout RandomNumbers) -> TreeNode {
    var fields: [String: TreeValue] = [:]
    // One byte for the map; a name and the head of its text take two to four.
    var left = recordByteCount - 1
    for (number, byteCount) in indexes.enumerated() {
      fields["i\(number)"] = .string(random.text(byteCount))
      left -= byteCount + 5
    }
    if childCount > 0 {
      fields["c"] = .array(
        children.map { .reference(identifier: $0, typeName: ShapeSample.typeName) })
    }
    fields["t"] = .string(random.text(max(left - 4, 0)))
    return TreeNode(
      random.text(identifierByteCount), type: ShapeSample.typeName, fields: .object(fields))
  }

  /// Measures commits of one node each, and scales them to the default limit of the log.
  private func changeLogByteCount(
    in store: ModelStore, _ identifiers: [String]
  ) async throws -> Int {
    func size() throws -> Int {
      let tables = try PageWalker(path: store.path).verify().tables
      return Int(tables.first { $0.name == "changes" }?.sizeInBytes ?? 0)
    }
    let measuredCount = 400
    let before = try size()
    for number in 0..<measuredCount {
      let identifier = identifiers[number % identifiers.count]
      try await store.write { transaction in
        guard var node = try transaction.snapshot.tree(identifier, depth: 0) else { return }
        node["n"] = .integer(Int64(number))
        try transaction.set(node)
      }
    }
    let limit = ModelStore.Configuration().changeLogLimit
    return (try size() - before) * limit / measuredCount
  }
}

/// Numbers that are the same in each run: SplitMix64, by Guy Steele, Doug Lea and Christine Flood.
private struct RandomNumbers {
  private var state: UInt64 = 0

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }

  mutating func number(below limit: Int) -> Int { Int(next() % UInt64(limit)) }

  /// Characters of 6 random bits each, from `0` to `o`.
  mutating func text(_ count: Int) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      var bits = next()
      for _ in 0..<min(10, count - bytes.count) {
        bytes.append(UInt8(ascii: "0") + UInt8(bits & 63))
        bits >>= 6
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
