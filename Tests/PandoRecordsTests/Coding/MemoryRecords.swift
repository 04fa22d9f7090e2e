import Foundation
import PandoModels

@testable import PandoRecords

/// Records in memory: what a store is to the coder.
final class MemoryRecords: RecordSink, RecordSource {
  struct Record: Equatable {
    var identifier: String
    var typeName: String
    var body: [UInt8]
    var edges: [RecordEdge]
  }

  private(set) var records: [RecordReference: Record] = [:]
  /// References in the order their nodes began.
  private(set) var begun: [RecordReference] = []
  /// References in the order their nodes ended.
  private(set) var ended: [RecordReference] = []
  private var nodes: [String] = []
  private var types: [String] = []
  private var identifiers: [RecordReference: (String, String)] = [:]
  var hasEnded = false
  /// Refuses the node with this identifier.
  var refused: String?
  private var kept: [UnsafeMutableRawBufferPointer] = []

  deinit { for bytes in kept { bytes.deallocate() } }

  struct Refusal: Error {}

  func beginNode(
    _ type: any SimpleModel.Type, identifier: String, value: @autoclosure () -> any SimpleModel
  ) throws -> RecordReference {
    if identifier == refused { throw Refusal() }
    let name = try ModelTypeName.validated(type)
    let reference = RecordReference(
      node: UInt64(number(identifier, &nodes)), type: UInt32(number(name, &types)))
    identifiers[reference] = (identifier, name)
    begun.append(reference)
    return reference
  }

  func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws {
    let (identifier, typeName) = identifiers[reference] ?? ("?", "?")
    records[reference] = Record(
      identifier: identifier, typeName: typeName, body: [UInt8](body), edges: edges)
    ended.append(reference)
  }

  func body(
    of reference: RecordReference, as type: any SimpleModel.Type
  ) throws -> UnsafeRawBufferPointer {
    if hasEnded { throw ModelError.snapshotEnded }
    let own = types.firstIndex(of: type.modelTypeName).map {
      RecordReference(node: reference.node, type: UInt32($0))
    }
    guard let record = own.flatMap({ records[$0] }) ?? records[reference] else {
      throw ModelError(.invalidRecord, reason: "no record \(reference)")
    }
    let copy = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(record.body.count, 1), alignment: 1)
    copy.copyBytes(from: record.body)
    kept.append(copy)
    return UnsafeRawBufferPointer(rebasing: copy[..<record.body.count])
  }

  func identifier(of reference: RecordReference) -> String? { identifiers[reference]?.0 }

  func record(_ identifier: String) -> Record? {
    records.values.first { $0.identifier == identifier }
  }

  func replaceBody(of identifier: String, with body: [UInt8]) {
    for (reference, record) in records where record.identifier == identifier {
      records[reference]?.body = body
    }
  }

  private func number(_ text: String, _ list: inout [String]) -> Int {
    // By bytes, as identifiers are compared.
    if let index = list.firstIndex(where: { $0.utf8.elementsEqual(text.utf8) }) { return index }
    list.append(text)
    return list.count - 1
  }
}

extension MemoryRecords {
  /// Encodes a tree and reads it back.
  static func roundTrip<M: SimpleModel & Codable>(_ model: M) throws -> M {
    let records = MemoryRecords()
    let reference = try RecordEncoder(sink: records).encode(model)
    return try records.decode(M.self, reference)
  }

  func decode<M: SimpleModel & Decodable>(_ type: M.Type, _ reference: RecordReference) throws -> M
  {
    try RecordDecoder(source: self).decode(type, from: body(of: reference, as: type))
  }
}

/// Encodes a value and reads it back.
func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
  try RecordDecoder.decodeValue(Value.self, from: RecordEncoder.encodeValue(value).body)
}

/// The bytes of a value in hexadecimal.
func encodedHex(_ value: some Encodable) throws -> String {
  hex(try RecordEncoder.encodeValue(value).body)
}

func hex(_ bytes: [UInt8]) -> String {
  bytes.map { byte in
    let text = String(byte, radix: 16)
    return byte < 16 ? "0" + text : text
  }.joined()
}

/// The bytes that hexadecimal digits say.
func bytes(_ hex: String) -> [UInt8] {
  let digits = Array(hex.utf8)
  return stride(from: 0, to: digits.count, by: 2).map {
    UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
  }
}
