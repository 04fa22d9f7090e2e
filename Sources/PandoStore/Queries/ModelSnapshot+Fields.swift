package import PandoModels
import PandoRecords

extension ModelSnapshot {
  /// How many records a query reads to check the name of a field.
  ///
  /// The next query continues after them, so all together read each record once.
  private static var comparedCountMaximum: Int { 64 }

  /// Compares declared fields with records that this process has not written.
  ///
  /// A record is decoded, and the present coding of the model is compared. So a record from before
  /// the field is no mistake. An undecodable record proves nothing.
  ///
  /// - Parameters:
  ///   - fields: Unproven fields of a query.
  ///   - type: The type that declares them.
  /// - Throws: `ModelError` `misdeclaredField` with the record's name; ``StoreError`` if the bytes
  ///   on disk are damaged.
  package func prove<M: SimpleModel & Codable>(
    _ fields: [DeclaredField], of type: M.Type
  ) throws {
    if fields.isEmpty { return }
    guard let number = try reader.directory.number(of: type, in: reader) else { return }
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    for field in fields {
      var seen = reader.directory.seenNodes(by: field)
      if reader.isCommitted, seen.version == version { continue }
      seen.version = version
      var count = 0
      var nodes = try reader.nodes(ofType: number, from: seen.next)
      while let node = try nodes.next(reader) {
        if let model = try? source.model(node, as: type) {
          _ = try RecordEncoder(sink: FieldProbe(field, model)).encode(model)
        }
        seen.next = node + 1
        count += 1
        if count >= Self.comparedCountMaximum || field.isProven {
          seen.version = nil
          break
        }
      }
      // Uncommitted records may never be committed.
      if reader.isCommitted { reader.directory.note(seen) }
    }
  }
}

/// Compares a field with the body of the outermost node of a tree.
@safe private final class FieldProbe: RecordSink, FieldChildren {
  private let field: DeclaredField
  private let model: any SimpleModel
  private var depth = 0
  /// The nodes of the tree, numbered in the order of their begin.
  private var identifiers: [String] = []
  /// Their types, with the same numbers.
  private var types: [any SimpleModel.Type] = []
  /// The bodies of the nodes that have ended.
  private var bodies: [UInt64: UnsafeMutableRawBufferPointer] = unsafe [:]

  init(_ field: DeclaredField, _ model: any SimpleModel) {
    self.field = field
    self.model = model
  }

  func beginNode(
    _ type: any SimpleModel.Type, identifier: String, value: @autoclosure () -> any SimpleModel
  ) -> RecordReference {
    depth += 1
    identifiers.append(identifier)
    types.append(type)
    return RecordReference(node: UInt64(identifiers.count), type: UInt32(types.count))
  }

  func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws {
    depth -= 1
    if depth == 0 { return try unsafe field.check(model, body, self) }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 1)
    unsafe copy.copyMemory(from: body)
    unsafe bodies.updateValue(copy, forKey: reference.node)?.deallocate()
  }

  func record(_ reference: RecordReference) -> FieldChild? {
    unsafe bodies[reference.node].map {
      unsafe FieldChild(type: reference.type, body: UnsafeRawBufferPointer($0))
    }
  }

  func records(ofNode node: UInt64) -> [FieldChild] { [] }

  func swiftType(_ number: UInt32) -> (any SimpleModel.Type)? { types[Int(number) - 1] }

  func identifier(ofNode node: UInt64) -> String? { identifiers[Int(node) - 1] }

  deinit { unsafe bodies.values.forEach { unsafe $0.deallocate() } }
}
