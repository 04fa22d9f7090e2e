import PandoLMDB
import PandoModels
import PandoSystem

/// Writes the lines of a dump.
struct StoreDump {
  let path: String

  func run(_ reader: borrowing StoreReader, _ write: (DumpLine) throws -> Void) throws {
    try write(.header(commitNumber: reader.state(path: path)?.commitNumber ?? 0))
    var types: [(name: String, row: TypeRow)] = []
    try reader.forEachType { types.append(($0, $1)) }
    // The lower type number decides between two records of one commit, so the order matters.
    for (name, row) in types.ordered(by: { $0.row.number < $1.row.number }) {
      let indexes = try reader.indexes(ofType: row.number).map { ModelIndex(typeName: name, $0) }
      let newest = try reader.schemaVersion(ofTypeNamed: name, row)
      try write(
        .type(
          name: name, schemaVersion: row.schemaVersion, indexes: indexes,
          newestVersion: newest > max(1, row.schemaVersion) ? newest : nil))
    }
    for (name, _) in types.ordered(by: { $0.name < $1.name }) {
      guard let rules = try reader.deletionRules(ofTypeNamed: name) else { continue }
      try write(.rules(typeName: name, text: String(decoding: rules.bytes, as: UTF8.self)))
    }
    try reader.snapshot.scan(reader.tables.meta, prefix: PropertyKey.prefix) { key, value in
      let name = try key.extracting(PropertyKey.prefix.count...).text("the name of a property")
      try write(.property(name: name, value: Array(copying: value)))
      return true
    }
    let nodeCount = try writeNodes(reader, write)
    let collectionCount = try writeCollections(reader, write)
    try write(.end(nodeCount: nodeCount, collectionCount: collectionCount))
  }

  private func writeNodes(
    _ reader: borrowing StoreReader, _ write: (DumpLine) throws -> Void
  ) throws -> Int {
    var count = 0
    try reader.forEachIdentifier { node, _ in
      let row = try reader.requiredSummary(of: node)
      let records = try row.types.map { type in
        let key = RecordKey(type: type, node: node)
        let tree = try reader.treeNode(key, depth: 0)
        return DumpLine.Record(
          typeName: tree.typeName, commitNumber: try reader.header(of: key).commitNumber,
          fields: tree.fields)
      }
      try write(
        .node(
          identifier: row.identifier, isAskedFor: row.isAskedFor,
          records: records.ordered { $0.typeName.hasBytes(before: $1.typeName) }))
      count += 1
      return true
    }
    return count
  }

  private func writeCollections(
    _ reader: borrowing StoreReader, _ write: (DumpLine) throws -> Void
  ) throws -> Int {
    var count = 0
    try reader.snapshot.scan(reader.tables.collections) { key, value in
      let cacheKey = try reader.cacheKey(ofRow: key, value)
      guard let list = try reader.list(cacheKey) else { return true }
      let total = try list.count(in: reader.snapshot)
      var start = 0
      repeat {
        let end = min(start + DumpLine.elementsPerLine, total)
        let elements = try reader.elements(of: cacheKey, in: start..<end) { element in
          switch element {
          case .node(let reference): try reader.treeValue(reference, depth: 0)
          case .value(let body): try reader.treeValue(body.span, depth: 0)
          }
        }
        try write(
          .collection(cacheKey: cacheKey, elements: elements ?? [], continues: start > 0))
        start = end
      } while start < total
      count += 1
      return true
    }
    return count
  }
}
