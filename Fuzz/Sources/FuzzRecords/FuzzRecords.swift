import FuzzSupport
import PandoModels

@testable import PandoRecords

/// Arbitrary bytes as a record: the header check and the decoder of bodies.
///
/// A body is valid exactly when it decodes and encodes to the same bytes again, unless it is nested
/// deeper than is ever written. Work on valid bodies without decoding them gives valid bodies.
/// Nothing crashes or takes more than its share.
@main enum FuzzRecords {
  static func main() {
    FuzzTarget.run { bytes in
      checkHeader(bytes)
      checkBody(bytes)
    }
  }

  /// The first sixteen bytes as a header: they come out again, and one that is made fits.
  private static func checkHeader(_ record: [UInt8]) {
    record.withUnsafeBytes { record in
      guard let header = RecordHeader(record: record), let body = RecordHeader.body(of: record)
      else { return FuzzTarget.require(record.count < RecordHeader.byteCount, "no header") }
      FuzzTarget.require(header.bytes.elementsEqual(record.prefix(16)), "another header")
      let made = RecordHeader(commitNumber: header.commitNumber, body: body)
      FuzzTarget.require(made.matches(body), "a header that does not fit its own body")
      FuzzTarget.require(
        header.matches(body) == (made.checksum == header.checksum), "a header that fits by chance")
    }
  }

  private static func checkBody(_ body: [UInt8]) {
    let isValid = (try? body.withUnsafeBytes { try RecordBody.validate($0) }) != nil
    let sink = NodeNumbers()
    var value: TreeValue?
    do {
      var decoder = TreeDecoder()
      value = try body.withUnsafeBytes {
        try decoder.value(of: $0, depth: 0) { try sink.record(of: $0) }
      }
    } catch is NodeNumbers.UnknownNode {
      return
    } catch let error as ModelError where error.code == .nestingTooDeep {
      // The content of a number's tag is a level to the decoder, and none to the validator.
      return requireDeep(body)
    } catch let error as ModelError {
      FuzzTarget.require(!error.reason.isEmpty, "an error without a reason")
    } catch {
      FuzzTarget.fail("\(error)")
    }
    guard let value else {
      return FuzzTarget.require(!isValid, "valid, and does not decode: \(body)")
    }
    var encoder = TreeEncoder(sink: sink)
    let again: [UInt8]
    do {
      again = try encoder.encodeValue(value).body
    } catch let error as ModelError where error.code == .nestingTooDeep {
      return requireDeep(body)  // some levels more are read than are written
    } catch {
      FuzzTarget.fail("what was decoded does not encode: \(error): \(body)")
    }
    FuzzTarget.require(isValid == (again == body), "valid \(isValid), again \(again): \(body)")
    if isValid { checkWork(on: body) }
  }

  /// A body that is refused as nested too deep has more bytes than levels are written.
  private static func requireDeep(_ body: [UInt8]) {
    FuzzTarget.require(
      body.count > RecordLimits.maximumNestingDepth, "refused as too deep: \(body)")
  }

  /// The work of the store on bodies without decoding them.
  private static func checkWork(on body: [UInt8]) {
    body.withUnsafeBytes { body in
      guard let edges = try? RecordBody.edges(in: body) else {
        FuzzTarget.fail("no edges of a valid body")
      }
      FuzzTarget.canary(edges.count >= 2)
      guard let loss = try? RecordBody.losing(children: [0], in: body) else {
        FuzzTarget.fail("a valid body that can't lose a child")
      }
      if case .changed(let changed) = loss {
        changed.withUnsafeBytes { changed in
          FuzzTarget.require(
            (try? RecordBody.validate(changed)) != nil, "what is left of a body is not valid")
          let left = (try? RecordBody.edges(in: changed)) ?? []
          FuzzTarget.require(!left.contains { $0.child.node == 0 }, "the lost child is still there")
        }
      }
      let other: [UInt8] = [0xa2, 0x61, 0x61, 0x01, 0x61, 0x62, 0xd9, 0x50, 0x41, 0x82, 1, 0]
      other.withUnsafeBytes { other in
        for policy in [RecordMerge.Policy.projection, .update] {
          for (new, old) in [(body, other), (other, body), (body, body)] {
            guard let merged = try? RecordBody.merging(new, into: old, policy: policy).body else {
              continue
            }
            merged.withUnsafeBytes {
              FuzzTarget.require(
                (try? RecordBody.validate($0)) != nil, "what was merged is not valid")
            }
          }
        }
      }
    }
  }
}

/// Names for the first few numbers of nodes and types; no records.
private final class NodeNumbers: TreeSink {
  struct UnknownNode: Error {}

  private static let nodeCount: UInt64 = 256
  private static let typeCount: UInt32 = 16

  func record(of reference: RecordReference) throws -> TreeRecord {
    guard reference.node < Self.nodeCount, reference.type < Self.typeCount else {
      throw UnknownNode()
    }
    return TreeRecord(
      identifier: "n\(reference.node)", typeName: "T\(reference.type)", body: nil)
  }

  func beginNode(identifier: String, typeName: String) -> RecordReference {
    reference(identifier: identifier, typeName: typeName)
  }

  func reference(identifier: String, typeName: String) -> RecordReference {
    guard let node = UInt64(identifier.dropFirst()), let type = UInt32(typeName.dropFirst()) else {
      FuzzTarget.fail("a name that is not in the data: \(identifier) \(typeName)")
    }
    return RecordReference(node: node, type: type)
  }

  func endNode(_ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]) {}
}
