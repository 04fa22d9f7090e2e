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
    let parts: InlineArray<2, UInt64> = [child.bigEndian, parent.rawValue.bigEndian]
    // Both are sixteen bytes without padding.
    bytes = unsafe unsafeBitCast(parts, to: InlineArray<16, UInt8>.self)
  }
}
