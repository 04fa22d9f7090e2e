import ModelCore

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

/// The key of one edge in the dependency index: which child, held by which record.
///
/// ```
/// offset 0        8                 16
///        ┌────────┬──────────────────┐
///        │ child  │ parent RecordKey │   both big endian
///        └────────┴──────────────────┘
/// ```
///
/// All parents of a child are one range, collections first. The value is one byte, the `EdgeKinds` of
/// the edge; where the parent is a collection, it is how many of its elements list or hold the child,
/// four bytes, little endian.
struct ParentKey {
  static let occurrenceByteCount = 4

  let bytes: InlineArray<16, UInt8>

  init(child: UInt64, parent: RecordKey) {
    let parts = (child, parent.rawValue)
    bytes = InlineArray<16, UInt8> { index in
      let part = index < 8 ? parts.0 : parts.1
      return UInt8(truncatingIfNeeded: part >> (56 - 8 * UInt64(index & 7)))
    }
  }
}
