import PandoModels
import PandoRecords

/// Records in memory: what a store would keep of trees.
final class TreeRecords: TreeSink {
  struct UnknownNode: Error {}

  private(set) var bodies: [RecordReference: [UInt8]] = [:]
  private(set) var edges: [RecordReference: [RecordEdge]] = [:]
  /// The calls of the encoder, in order.
  private(set) var log: [String] = []
  private var nodes: [String] = []
  private var types: [String] = []
  /// Bodies handed out, which must stay where they are.
  private var copies: [UnsafeMutableRawBufferPointer] = []

  deinit {
    for copy in copies { copy.deallocate() }
  }

  func beginNode(identifier: String, typeName: String) -> RecordReference {
    log.append("begin \(identifier)")
    return number(identifier, typeName)
  }

  func reference(identifier: String, typeName: String) -> RecordReference {
    log.append("refer \(identifier)")
    return number(identifier, typeName)
  }

  func endNode(_ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]) {
    log.append("end \(nodes[Int(reference.node)])")
    bodies[reference] = Array(body)
    self.edges[reference] = edges
  }

  func number(_ identifier: String, _ typeName: String) -> RecordReference {
    RecordReference(node: UInt64(index(identifier, &nodes)), type: UInt32(index(typeName, &types)))
  }

  func resolve(_ reference: RecordReference) throws -> TreeRecord {
    guard nodes.indices.contains(Int(clamping: reference.node)),
      types.indices.contains(Int(reference.type))
    else { throw UnknownNode() }
    let body = bodies[reference].map { bytes in
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
      copy.copyBytes(from: bytes)
      copies.append(copy)
      return UnsafeRawBufferPointer(copy)
    }
    return TreeRecord(
      identifier: nodes[Int(reference.node)], typeName: types[Int(reference.type)], body: body)
  }

  /// Takes over the numbers of other records, and if asked for the records.
  func adopt(_ other: MemoryRecords, withBodies: Bool = true) {
    for (reference, record) in other.records.sorted(by: { $0.key.node < $1.key.node }) {
      precondition(index(record.identifier, &nodes) == Int(reference.node), "nodes have no gaps")
      if withBodies { bodies[reference] = record.body }
    }
    for (reference, record) in other.records.sorted(by: { $0.key.type < $1.key.type }) {
      precondition(index(record.typeName, &types) == Int(reference.type), "types have no gaps")
    }
  }

  func encode(_ value: TreeValue) throws -> (body: [UInt8], edges: [RecordEdge]) {
    var encoder = TreeEncoder(sink: self)
    return try encoder.encodeValue(value)
  }

  func encode(_ node: TreeNode) throws -> RecordReference {
    var encoder = TreeEncoder(sink: self)
    return try encoder.encode(node)
  }

  func decode(_ body: [UInt8], depth: Int = .max) throws -> TreeValue {
    var decoder = TreeDecoder()
    return try body.withUnsafeBytes { try decoder.value(of: $0, depth: depth, resolve: resolve) }
  }

  func decode(_ reference: RecordReference, depth: Int = .max) throws -> TreeValue {
    var decoder = TreeDecoder()
    return try decoder.node(reference, depth: depth, resolve: resolve)
  }

  /// Byte by byte, as a store compares identifiers.
  private func index(_ name: String, _ names: inout [String]) -> Int {
    if let index = names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) { return index }
    names.append(name)
    return names.count - 1
  }
}

extension TreeRecords: RecordSource {
  var hasEnded: Bool { false }

  func body(
    of reference: RecordReference, as type: any SimpleModel.Type
  ) throws -> UnsafeRawBufferPointer {
    guard let body = try resolve(reference).body else { throw UnknownNode() }
    return body
  }
}

extension RecordBody {
  static func edges(in body: [UInt8]) throws -> [RecordEdge] {
    try body.withUnsafeBytes { try edges(in: $0) }
  }

  static func losing(children: Set<UInt64>, in body: [UInt8]) throws -> RecordLoss {
    try body.withUnsafeBytes { try losing(children: children, in: $0) }
  }

  static func merging(
    _ new: [UInt8], into old: [UInt8], policy: RecordMerge.Policy = .projection,
    leaving names: Set<String> = []
  ) throws -> RecordMerge {
    try new.withUnsafeBytes { new in
      try old.withUnsafeBytes { old in
        try merging(new, into: old, policy: policy, leaving: names)
      }
    }
  }

  static func validate(_ body: [UInt8]) throws {
    try body.withUnsafeBytes { try validate($0) }
  }
}
