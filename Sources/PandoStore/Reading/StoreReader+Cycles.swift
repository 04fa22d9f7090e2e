import PandoLMDB
import PandoModels

extension StoreReader {
  /// A record that can be reached from itself, if there is one.
  ///
  /// References are followed as reading follows them: to the record of their own type, else to the
  /// node's newest.
  ///
  /// - Complexity: O(*n* log *n*) for *n* records and references, and memory for *n* keys.
  func recordInCycle() throws -> RecordKey? {
    var found: RecordKey?
    var done: Set<RecordKey> = []
    try snapshot.scan(tables.nodes) { key, value in
      guard let node = ByteFields.bigEndian(key, at: 0) else { return true }
      for type in try NodeRow(value, node: node).types where found == nil {
        found = try recordInCycle(from: RecordKey(type: type, node: node), &done)
      }
      return found == nil
    }
    return found
  }

  /// Goes down from one record, past those that are done with.
  private func recordInCycle(
    from start: RecordKey, _ done: inout Set<RecordKey>
  ) throws -> RecordKey? {
    guard !done.contains(start) else { return nil }
    // The records on the way down, each with the children that have not been looked at.
    var path = [(record: start, children: try childRecords(of: start))]
    var onPath: Set<RecordKey> = [start]
    while let last = path.indices.last {
      guard let next = path[last].children.popLast() else {
        let record = path.removeLast().record
        onPath.remove(record)
        done.insert(record)
        continue
      }
      if onPath.contains(next) { return next }
      guard !done.contains(next) else { continue }
      path.append((next, try childRecords(of: next)))
      onPath.insert(next)
    }
    return nil
  }

  private func childRecords(of key: RecordKey) throws -> [RecordKey] {
    guard let body = try body(of: key) else { return [] }
    return try RecordBody.edges(in: body).compactMap { edge in
      try recordKey(node: edge.child.node, preferring: edge.child.type)
    }
  }
}
