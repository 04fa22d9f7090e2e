import PandoLMDB
import PandoModels

/// An ordered list of byte strings kept in the rows of one table, cheap to change anywhere.
///
/// It is a B+tree without keys: the leaves hold the elements in list order and every inner entry
/// knows how many elements lie beneath it, so a position is found by adding counts on the way
/// down. An insert into a million elements rewrites one leaf and the two or three rows above it.
/// See "Ordered lists" in `docs/format.md`.
///
/// A list is only a table and a number: there is nothing to create and nothing to close. A list
/// without elements has no rows, and a number never used is an empty list.
///
/// The key of a row, 16 bytes, so that the rows of one list are one range of the table:
///
/// | offset | size | type | meaning |
/// |---|---|---|---|
/// | 0 | 8 | `UInt64`, big endian | number of the list |
/// | 8 | 8 | `UInt64`, big endian | block: 0 is the root, else a number that is given once |
///
/// The top bit is set in the blocks of leaves, so the rows above them lie side by side and in front:
/// what every change rewrites shares pages, and the pages of LMDB above them.
///
/// - Note: Any thread that may use the snapshot or the transaction; the value itself has no state.
struct CountedList: Equatable, Sendable {
  /// The table that holds the rows of this list and of others.
  let table: RawTable

  /// What tells this list from the others of its table.
  let number: UInt64
}

extension CountedList {
  /// What a row and an element may measure.
  enum Limits {
    /// Bytes of items in a row that holds more than one.
    ///
    /// A row is kept inside a page of LMDB while header, key and value stay below half a page
    /// (2 038 bytes for pages of 4 096); two full rows then share a page. Since an item takes at
    /// least one byte, this bounds the number of items of a row as well.
    static let payloadByteCountMax = 1_920

    /// A row with fewer bytes of items looks for a neighbour to share with.
    static let payloadByteCountMin = payloadByteCountMax / 4

    /// What new rows are filled to when many are made at once, so that the first inserts fit.
    static let payloadByteCountPacked = payloadByteCountMax / 8 * 7

    /// Bytes of one element; LMDB allows no value of 4 GiB or more.
    static let elementByteCountMax = 1 << 30

    /// More elements than a file can hold, since each takes a byte; a sum of such counts over the
    /// items of a row fits in an integer.
    static let elementCountMax = 1 << 48

    /// More blocks than can ever be given.
    static let blockMax: UInt64 = 1 << 62

    /// Levels above the leaves; 2⁴⁸ elements need 10, because an inner row has 30 children or more.
    static let levelMax = 15
  }

  /// The block of the row where every search begins.
  static let rootBlock: UInt64 = 0

  /// The bit that is set in the blocks of leaves, other than a root that is a leaf.
  static let leafBit: UInt64 = 1 << 63

  /// The key under which a block of this list is kept.
  func key(ofBlock block: UInt64) -> InlineArray<16, UInt8> {
    Self.key(list: number, block: block)
  }

  /// The key of a row.
  static func key(list: UInt64, block: UInt64) -> InlineArray<16, UInt8> {
    InlineArray<16, UInt8> {
      UInt8(truncatingIfNeeded: ($0 < 8 ? list : block) >> UInt64(56 - 8 * ($0 & 7)))
    }
  }

  /// The bytes with which the keys of all rows of this list begin.
  var keyPrefix: [UInt8] {
    var bytes: [UInt8] = []
    ByteFields.append(bigEndian: number, width: 8, to: &bytes)
    return bytes
  }
}

/// Why a list could not be read or changed.
enum CountedListError: Error, Equatable {
  /// A row is missing or holds bytes that no list ever wrote.
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
  /// A number that changes when the bytes of a row change or come to lie under another key.
  ///
  /// XXH64, seeded with the XXH64 of the key. It is no defence against somebody who wants a change
  /// to escape.
  ///
  /// - Complexity: O(*n*).
  static func checksum(of bytes: Span<UInt8>, list: UInt64, block: UInt64) -> UInt64 {
    let key = key(list: list, block: block)
    // The buffers do not leave the closures.
    let seed = unsafe key.span.withUnsafeBytes { unsafe XXHash64.hash($0) }
    return unsafe bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: seed) }
  }

  /// The little-endian word at an offset.
  ///
  /// - Precondition: 8 bytes lie there.
  static func word(in bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    // Bytes have no padding, the load checks the bounds, and every bit pattern is an integer.
    UInt64(
      littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(
        fromByteOffset: offset, as: UInt64.self))
  }
}
