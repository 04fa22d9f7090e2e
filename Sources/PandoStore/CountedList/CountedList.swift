import PandoLMDB
import PandoRecords

/// An ordered list of byte strings in the rows of one table, cheap to change anywhere.
///
/// It is a B+tree without keys. The leaves contain the elements in list order. Every inner entry
/// contains the number of elements below it, so a search adds counts on the way down. An insert
/// into a million elements rewrites one leaf and the two or three rows above it. See "Ordered
/// lists" in `docs/format.md`.
///
/// A list is only a table and a number, and is neither created nor closed. A list without elements
/// has no rows, and an unused number is an empty list.
///
/// The key of a row, 16 bytes, so that the rows of one list are one range of the table:
///
/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0 | 8 | `UInt64`, big endian | number of the list |
/// | 8 | 8 | `UInt64`, big endian | block: 0 is the root, else a number that is given once |
///
/// The top bit is set in the blocks of leaves, so the rows above them come first and are adjacent.
/// Every change rewrites these rows, which share pages.
///
/// - Note: Any thread that may use the snapshot or the transaction; the value has no state.
struct CountedList: Equatable, Sendable {
  /// The table with the rows of this list and of others.
  let table: RawTable

  /// The number of the list in its table.
  let number: UInt64
}

extension CountedList {
  /// The limits of a row and an element.
  enum Limits {
    /// The bytes of items in a row with more than one item.
    ///
    /// A row stays inside a page of LMDB while header, key and value are below half a page (2 038
    /// bytes for pages of 4 096). Two full rows then share a page. Since an item takes at least one
    /// byte, this also bounds the number of items.
    static let payloadByteCountMax = 1_920

    /// The bytes of items below which a row is joined with a neighbour.
    static let payloadByteCountMin = payloadByteCountMax / 4

    /// The fill of new rows when many are made at once, which leaves room for inserts.
    static let payloadByteCountPacked = payloadByteCountMax / 8 * 7

    /// The size of one element; LMDB allows no value of 4 GiB or more.
    static let elementByteCountMax = 1 << 30

    /// More elements than a file can contain, since each needs a byte; the sum of such counts in
    /// one row fits in an integer.
    static let elementCountMax = 1 << 48

    /// More blocks than can ever be used.
    static let blockMax: UInt64 = 1 << 62

    /// Levels above the leaves; 2⁴⁸ elements need 10, because an inner row has 30 children or more.
    static let levelMax = 15
  }

  /// The block of the row at which every search begins.
  static let rootBlock: UInt64 = 0

  /// The bit that is set in the blocks of leaves, except a root that is a leaf.
  static let leafBit: UInt64 = 1 << 63

  /// The key of a block of this list.
  func key(ofBlock block: UInt64) -> InlineArray<16, UInt8> {
    Self.key(list: number, block: block)
  }

  /// The key of a row.
  static func key(list: UInt64, block: UInt64) -> InlineArray<16, UInt8> {
    InlineArray<16, UInt8> {
      UInt8(truncatingIfNeeded: ($0 < 8 ? list : block) >> UInt64(56 - 8 * ($0 & 7)))
    }
  }

  /// The common prefix of the keys of all rows of this list.
  var keyPrefix: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: number)
    return bytes
  }
}

/// An error of reading or changing a list.
enum CountedListError: Error, Equatable {
  /// A row is missing or contains impossible bytes.
  case damaged(list: UInt64, block: UInt64, reason: String)

  /// An element is larger than a row can be.
  case elementTooLarge(byteCount: Int)
}

extension CountedListError: CustomStringConvertible {
  var description: String {
    switch self {
    case .damaged(let list, let block, let reason):
      "list \(list), \(Self.name(ofBlock: block)) is damaged: \(reason)"
    case .elementTooLarge(let byteCount):
      "an element of \(byteCount) bytes is larger than "
        + "\(CountedList.Limits.elementByteCountMax) bytes"
    }
  }

  private static func name(ofBlock block: UInt64) -> String {
    if block == CountedList.rootBlock { return "root" }
    let number = block & ~CountedList.leafBit
    return block == number ? "inner row \(number)" : "leaf \(number)"
  }
}

extension CountedList {
  /// A number that changes when the bytes of a row change or move to another key.
  ///
  /// XXH64, seeded with the XXH64 of the key. It does not protect against deliberate changes.
  ///
  /// - Complexity: O(*n*).
  static func checksum(of bytes: Span<UInt8>, list: UInt64, block: UInt64) -> UInt64 {
    let key = key(list: list, block: block)
    return XXHash64.hash(bytes, seed: XXHash64.hash(key.span))
  }

  /// The little-endian word at an offset.
  ///
  /// - Precondition: 8 bytes exist there.
  static func word(in bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    // Bytes have no padding, the load checks the bounds, and every bit pattern is an integer.
    UInt64(
      littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(
        fromByteOffset: offset, as: UInt64.self))
  }
}
