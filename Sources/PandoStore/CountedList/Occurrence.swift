/// In how many elements of a collection a node is, and where, if it is one.
///
/// ```
/// bit 31   30                0
///     ┌───┬──────────────────┐
///     │ 0 │ elements         │    little endian on disk, 4 bytes
///     ├───┼──────────────────┤
///     │ 1 │ block of a leaf  │    one element, which is in that leaf of the list
///     └───┴──────────────────┘
/// ```
///
/// The leaf is that of the list's present rows, unless the list is one row: then it says nothing. Where the
/// leaf is not known, the number of elements stands there.
struct Occurrence: Equatable {
  static let byteCount = 4
  private static let leafBit: UInt32 = 1 << 31

  let rawValue: UInt32

  /// - Returns: `nil` if the bytes are too few or too many.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count == Self.byteCount,
      let value = ByteFields.littleEndian(bytes, at: 0, width: Self.byteCount)
    else { return nil }
    rawValue = UInt32(value)
  }

  /// A number of elements.
  init(count: Int) { rawValue = UInt32(count) }

  /// One element, and the row of the ordered list in which it is.
  init(inBlock block: UInt64) {
    let number = block & ~CountedList.leafBit
    let isKnown = block != CountedList.rootBlock && number < UInt64(Self.leafBit)
    rawValue = isKnown ? Self.leafBit | UInt32(number) : 1
  }

  var count: Int { rawValue & Self.leafBit == 0 ? Int(rawValue) : 1 }

  /// The block of the leaf where the only element is; `nil` if it is not known, or if there are several.
  var leaf: UInt64? {
    rawValue & Self.leafBit == 0
      ? nil : UInt64(rawValue & ~Self.leafBit) | CountedList.leafBit
  }

  var bytes: InlineArray<4, UInt8> {
    InlineArray<4, UInt8> { UInt8(truncatingIfNeeded: rawValue >> UInt32(8 * $0)) }
  }
}
