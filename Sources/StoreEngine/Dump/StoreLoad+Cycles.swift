import LMDB
import ModelCore

extension StoreLoad {
  /// Refuses a dump in which a node contains itself: its lines name their children, so that each line
  /// alone can be sound.
  ///
  /// - Complexity: Each record is walked once; memory for each that has children.
  func refuseCycles() throws {
    try context.reading { reader in
      var walked: Set<RecordKey> = []
      try reader.snapshot.scan(reader.tables.records) { key, _ in
        guard let number = ByteFields.bigEndian(key, at: 0) else { return true }
        try Self.walk(from: RecordKey(rawValue: number), &walked, reader)
        return true
      }
    }
  }

  private static func walk(
    from start: RecordKey, _ walked: inout Set<RecordKey>, _ reader: borrowing StoreReader
  ) throws {
    var path: [(key: RecordKey, children: [RecordKey])] = []
    var isOnPath: Set<RecordKey> = []
    func enter(_ key: RecordKey) throws {
      guard !walked.contains(key) else { return }
      guard !isOnPath.contains(key) else {
        throw StoreError(
          .invalidDump, try reader.identifier(of: key.node),
          "would contain itself; a tree of models has no cycles; nothing was loaded")
      }
      guard let body = try reader.body(of: key) else { return }
      let children = try RecordBody.edges(in: body).compactMap { edge in
        try reader.recordKey(node: edge.child.node, preferring: edge.child.type)
      }
      guard !children.isEmpty else { return }
      isOnPath.insert(key)
      path.append((key, children))
    }
    try enter(start)
    while let last = path.indices.last {
      if let child = path[last].children.popLast() {
        try enter(child)
      } else {
        let key = path.removeLast().key
        isOnPath.remove(key)
        walked.insert(key)
      }
    }
  }
}
