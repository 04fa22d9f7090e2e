import PandoModels

/// The key of a record: type number and node number in one integer, so that the records of one type
/// are one range of the table.
///
/// ```
/// bit 63           48 47                          0
///     ┌──────────────┬─────────────────────────────┐
///     │ type (16)    │ node (48)                   │   big endian on disk, 8 bytes
///     └──────────────┴─────────────────────────────┘
/// ```
///
/// Type 0 is no type of models: with it the lower bits are the number of a collection, which stands
/// as a parent in the `parents` table. See docs/format.md, "records".
struct RecordKey: Hashable {
  /// The largest node number that fits.
  static let nodeMaximum: UInt64 = 1 << 48 - 1
  /// The largest type number that fits.
  static let typeMaximum: UInt32 = 0xFFFF

  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  init(type: UInt32, node: UInt64) {
    rawValue = UInt64(type) << 48 | (node & Self.nodeMaximum)
  }

  init(_ reference: RecordReference) { self.init(type: reference.type, node: reference.node) }

  /// The key under which a collection stands as a parent.
  init(collection: UInt64) { self.init(type: 0, node: collection) }

  var type: UInt32 { UInt32(rawValue >> 48) }
  var node: UInt64 { rawValue & Self.nodeMaximum }
  var isCollection: Bool { type == 0 }
  var reference: RecordReference { RecordReference(node: node, type: type) }
  var key: IntegerKey { IntegerKey(rawValue) }
}
