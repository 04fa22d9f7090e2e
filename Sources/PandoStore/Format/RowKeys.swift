import PandoRecords

/// The key of a record: type and node number in one integer, so that the records of one type are
/// one range of the table.
///
/// ```
/// bit 63           48 47                          0
///     ┌──────────────┬─────────────────────────────┐
///     │ type (16)    │ node (48)                   │   big endian on disk, 8 bytes
///     └──────────────┴─────────────────────────────┘
/// ```
///
/// Type 0 is not a model type: with it, the lower bits are the number of a collection that is a
/// parent in the `parents` table. See docs/format.md, "records".
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

  /// Makes the key of a collection as a parent.
  init(collection: UInt64) { self.init(type: 0, node: collection) }

  var type: UInt32 { UInt32(rawValue >> 48) }
  var node: UInt64 { rawValue & Self.nodeMaximum }
  var isCollection: Bool { type == 0 }
  var reference: RecordReference { RecordReference(node: node, type: type) }
  var key: IntegerKey { IntegerKey(rawValue) }
}

/// A key of one integer: eight bytes, big-endian.
struct IntegerKey {
  let bytes: InlineArray<8, UInt8>

  init(_ value: UInt64) {
    // Both are eight bytes without padding.
    bytes = unsafe unsafeBitCast(value.bigEndian, to: InlineArray<8, UInt8>.self)
  }
}

/// A value of one integer: eight bytes, little-endian.
struct LittleEndianValue {
  let bytes: InlineArray<8, UInt8>

  init(_ value: UInt64) {
    bytes = InlineArray<8, UInt8> { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }
}

/// The key of an identifier: its UTF-8 bytes, or a prefix and a hash if they exceed LMDB's 511.
///
/// Identifiers are compared byte by byte, never by Unicode equivalence. A key of exactly 511 bytes
/// is always the long form, so the two forms never collide:
///
/// ```
/// short: 1…510 bytes   UTF-8                            value: node number (8, little endian)
/// long:  511 bytes     first 495 bytes, 128-bit hash    value: node number (8), full UTF-8
/// ```
struct IdentifierKey {
  /// The longest identifier that is its own key, in bytes.
  static let shortByteCountMaximum = 510
  /// The number of bytes of a long identifier before the hash in its key.
  static let prefixByteCount = 495

  let bytes: [UInt8]
  let isLong: Bool

  init(_ identifier: String) {
    let text = Array(identifier.utf8)
    isLong = text.count > Self.shortByteCountMaximum
    guard isLong else {
      bytes = text
      return
    }
    bytes = text[..<Self.prefixByteCount] + IdentifierHash.bytes(of: identifier)
  }
}

/// A hash that replaces the end of a text in a key.
enum IdentifierHash {
  /// The 16 bytes for a text.
  static func bytes(of identifier: String) -> [UInt8] {
    let text = identifier.utf8Span.span
    return [UInt8](littleEndian: XXHash64.hash(text), XXHash64.hash(text, seed: 1))
  }
}

/// The key of one edge in the dependency index: the child, then the parent record.
///
/// ```
/// offset 0        8                 16
///        ┌────────┬──────────────────┐
///        │ child  │ parent RecordKey │   both big endian
///        └────────┴──────────────────┘
/// ```
///
/// All parents of a child are one range, collections first. The value is one byte, the `EdgeKinds`
/// of the edge; if the parent is a collection, an ``Occurrence`` of four bytes.
struct ParentKey {
  let bytes: InlineArray<16, UInt8>

  init(child: UInt64, parent: RecordKey) {
    let parts: InlineArray<2, UInt64> = [child.bigEndian, parent.rawValue.bigEndian]
    // Both are sixteen bytes without padding.
    bytes = unsafe unsafeBitCast(parts, to: InlineArray<16, UInt8>.self)
  }
}

/// The key of a collection in the `collections` table: the ``IdentifierKey`` of its cache key.
///
/// The value is the collection number alone; `collectionNames` has the full cache key.
struct CollectionKey {
  let bytes: [UInt8]
  let isLong: Bool

  init(_ cacheKey: String) throws {
    guard !cacheKey.isEmpty else {
      throw StoreError(.emptyIdentifier, "", "the cache key of a collection is empty")
    }
    let key = IdentifierKey(cacheKey)
    bytes = key.bytes
    isLong = key.isLong
  }
}

/// The key of a user's property in the `meta` table: `property:` and its name.
struct PropertyKey {
  static let prefix: [UInt8] = Array("property:".utf8)
  /// The longest name, in bytes; leaves room for the prefix in LMDB's 511.
  static let byteCountMaximum = 400

  let bytes: [UInt8]

  init(_ name: String) throws {
    guard !name.isEmpty, name.utf8.count <= Self.byteCountMaximum else {
      throw StoreError(
        .emptyIdentifier, name,
        "the name of a property has 1 to \(Self.byteCountMaximum) bytes, this one has "
          + "\(name.utf8.count)")
    }
    bytes = Self.prefix + Array(name.utf8)
  }
}
