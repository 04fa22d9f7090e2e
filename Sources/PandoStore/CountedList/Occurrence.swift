/// The number of a node's elements in a collection, or the leaf of the only one.
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
/// The leaf is that of the list's present rows; in a list of one row it has no meaning. If the leaf
/// is unknown, the number of elements is stored.
struct Occurrence: Equatable {
  static let byteCount = 4
  private static let leafBit: UInt32 = 1 << 31

  let rawValue: UInt32

  /// - Returns: `nil` if the number of bytes is wrong.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count == Self.byteCount,
      let value = bytes.littleEndian(at: 0, width: Self.byteCount)
    else { return nil }
    rawValue = UInt32(value)
  }

  /// Makes a number of elements.
  init(count: Int) { rawValue = UInt32(count) }

  /// Makes one element in a row of the ordered list.
  init(inBlock block: UInt64) {
    let number = block & ~CountedList.leafBit
    let isKnown = block != CountedList.rootBlock && number < UInt64(Self.leafBit)
    rawValue = isKnown ? Self.leafBit | UInt32(number) : 1
  }

  var count: Int { rawValue & Self.leafBit == 0 ? Int(rawValue) : 1 }

  /// The block of the leaf of the only element; `nil` if unknown, or with several elements.
  var leaf: UInt64? {
    rawValue & Self.leafBit == 0
      ? nil : UInt64(rawValue & ~Self.leafBit) | CountedList.leafBit
  }

  var bytes: InlineArray<4, UInt8> {
    InlineArray<4, UInt8> { UInt8(truncatingIfNeeded: rawValue >> UInt32(8 * $0)) }
  }
}
