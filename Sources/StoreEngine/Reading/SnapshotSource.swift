import LMDB
import ModelCore

/// Gives a record decoder the bytes of the nodes it meets, for as long as one read lasts.
///
/// A `Decoder` can't be non-escaping, so a model may keep one: after ``end()`` this source refuses,
/// and what was kept throws `snapshotEnded`. One thread at a time, like the snapshot beneath.
final class SnapshotSource: RecordSource {
  private let handle: UnsafeSnapshotHandle
  private let tables: StoreTables
  private let directory: TypeDirectory
  private let pending: WriteContext?
  private(set) var hasEnded = false
  /// Type numbers met in this read; a list, because a tree shows few types.
  private var numbers: [(type: ObjectIdentifier, number: UInt32?)] = []

  init(_ reader: borrowing StoreReader) {
    handle = reader.snapshot.unsafeHandle
    tables = reader.tables
    directory = reader.directory
    pending = reader.pending
  }

  func end() { hasEnded = true }

  func body(
    of reference: RecordReference, as type: any SimpleModel.Type
  ) throws -> UnsafeRawBufferPointer {
    guard !hasEnded else { throw ModelError.snapshotEnded }
    // The handle is valid until `end()`, which the closure that made this source calls last.
    let reader = unsafe StoreReader(
      Snapshot(unsafeHandle: handle), tables: tables, directory: directory, pending: pending)
    let number = try number(of: type, in: reader)
    guard let body = try reader.body(ofNode: reference.node, preferring: number) else {
      throw StoreError.damaged(
        "node \(reference.node)", "a record refers to it but it has no record")
    }
    return unsafe body.withUnsafeBufferPointer { UnsafeRawBufferPointer($0) }
  }

  func identifier(of reference: RecordReference) -> String? {
    guard !hasEnded else { return nil }
    // As in `body(of:as:)`.
    let reader = unsafe StoreReader(
      Snapshot(unsafeHandle: handle), tables: tables, directory: directory, pending: pending)
    return try? reader.identifier(of: reference.node)
  }

  /// The record of a reference for an untyped tree: of its own type, else the node's newest.
  func treeRecord(_ reference: RecordReference) throws -> TreeRecord {
    let reader = unsafe StoreReader(
      Snapshot(unsafeHandle: handle), tables: tables, directory: directory, pending: pending)
    let identifier = try reader.identifier(of: reference.node)
    guard let key = try reader.recordKey(node: reference.node, preferring: reference.type),
      let body = try reader.body(of: key)
    else { throw StoreError.damaged(identifier, "it is referred to but has no record") }
    let typeName = try directory.name(ofTypeNumber: key.type, in: reader)
    return unsafe TreeRecord(
      identifier: identifier, typeName: typeName,
      body: body.withUnsafeBufferPointer { UnsafeRawBufferPointer($0) })
  }

  private func number(
    of type: any SimpleModel.Type, in reader: borrowing StoreReader
  ) throws -> UInt32? {
    let identity = ObjectIdentifier(type)
    for entry in numbers where entry.type == identity { return entry.number }
    let number = try directory.number(of: type, in: reader)
    numbers.append((identity, number))
    return number
  }
}
