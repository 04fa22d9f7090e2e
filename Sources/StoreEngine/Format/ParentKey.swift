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
