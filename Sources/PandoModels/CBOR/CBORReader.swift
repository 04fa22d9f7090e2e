/// Reads CBOR items one after another from bytes it does not own.
///
/// Every length is checked against the bytes that are left before anything is done with it, nothing
/// recurses, and nothing is allocated but the texts asked for: so arbitrary bytes cost at most time
/// linear in their number. Items of indefinite length are refused, for no record holds one; heads
/// longer than need be are read (``CBORHead/isShortest`` tells them).
///
/// - Note: The bytes must outlive the reader. One thread at a time.
@safe package struct CBORReader {
  /// The next byte to read.
  package private(set) var position: UnsafeRawPointer
  /// Behind the last byte.
  package let end: UnsafeRawPointer
  private let start: UnsafeRawPointer

  package init(_ bytes: UnsafeRawBufferPointer) {
    // An empty buffer may have no address; any will do, for nothing is read from it.
    let address = unsafe bytes.baseAddress ?? Self.nowhere
    unsafe self.init(start: address, end: address + bytes.count)
  }

  /// Reads from `start` up to `end`, both in or behind one block of bytes.
  init(start: UnsafeRawPointer, end: UnsafeRawPointer) {
    unsafe self.start = start
    unsafe position = start
    unsafe self.end = end
  }

  /// An address for empty bytes; one byte that is never read or freed.
  private nonisolated(unsafe) static let nowhere = UnsafeRawPointer(
    UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

  /// How many bytes are left.
  package var remaining: Int { unsafe end - position }

  /// How many bytes have been read.
  package var offset: Int { unsafe position - start }

  /// Whether all bytes have been read.
  package var isAtEnd: Bool { unsafe position >= end }

  /// Checks that all bytes have been read.
  package func finish() throws(CBORError) {
    guard isAtEnd else { throw error(.trailingBytes) }
  }

  /// An error at the next byte.
  package func error(_ code: CBORError.Code) -> CBORError { CBORError(code, offset: offset) }

  /// Reads the head of the next item.
  ///
  /// For texts and byte strings the length has been checked: the bytes are there. For arrays and maps
  /// the count has: there is at least one byte for each element, key and value.
  @inline(__always)
  package mutating func head() throws(CBORError) -> CBORHead {
    // Most heads are one byte: small numbers and short texts.
    if remaining > 0 {
      // In bounds: a byte is left.
      let first = unsafe position.load(as: UInt8.self)
      let information = first & 0x1F
      // What must follow: a byte for each of a text, or for each element, key and value.
      let needed = first < 0x40 ? 0 : first < 0xA0 ? Int(information) : 2 &* Int(information)
      if information < 24 && first < 0xC0 && needed < remaining {
        unsafe position += 1
        let major = CBORHead.Major(first: first)
        return CBORHead(major: major, information: information, argument: UInt64(information))
      }
    }
    return try anyHead()
  }

  @inline(never)
  private mutating func anyHead() throws(CBORError) -> CBORHead {
    guard remaining >= 1 else { throw error(.endOfBytes) }
    // Loads are in bounds: `remaining` is checked before each; CBOR has no alignment.
    let first = unsafe position.load(as: UInt8.self)
    let major = CBORHead.Major(first: first)
    let information = first & 0x1F
    var argument = UInt64(information)
    var length = 1
    if information >= 24 {
      guard information <= 27 else {
        throw error(
          information == 31 && major != .unsigned && major != .negative && major != .tag
            ? .indefiniteLength : .badHead)
      }
      length += 1 << (Int(information) - 24)
      guard remaining >= length else { throw error(.endOfBytes) }
      argument = unsafe Self.argument(at: position + 1, information: information)
    }
    switch major {
    case .text, .bytes, .array:
      guard argument <= UInt64(remaining - length) else { throw error(.endOfBytes) }
    case .map:
      guard argument <= UInt64(remaining - length) / 2 else { throw error(.endOfBytes) }
    case .simple where information == 24 && argument < 32: throw error(.badHead)
    default: break
    }
    unsafe position += length
    return CBORHead(major: major, information: information, argument: argument)
  }

  private static func argument(at address: UnsafeRawPointer, information: UInt8) -> UInt64 {
    // The caller has checked that the argument's bytes are there.
    switch information {
    case 24: UInt64(unsafe address.load(as: UInt8.self))
    case 25: UInt64(unsafe UInt16(bigEndian: address.loadUnaligned(as: UInt16.self)))
    case 26: UInt64(unsafe UInt32(bigEndian: address.loadUnaligned(as: UInt32.self)))
    default: unsafe UInt64(bigEndian: address.loadUnaligned(as: UInt64.self))
    }
  }

  /// Moves over bytes that have been checked to be there.
  mutating func advance(by count: Int) { unsafe position += count }

  /// Reads the next item's head and leaves the reader before it.
  package func peek() throws(CBORError) -> CBORHead {
    var copy = self
    return try copy.head()
  }

  /// Reads a field with a key of less than 24 bytes and a short value; leaves anything else alone.
  ///
  /// - Returns: How many bytes the key has; it began behind the first byte, and the value behind it.
  @inline(__always)
  mutating func takeShortField() -> Int? {
    let remaining = remaining
    guard remaining > 0 else { return nil }
    // In bounds, as are key and value by their checked lengths.
    let keyCount = unsafe Int(position.load(as: UInt8.self)) &- 0x60
    guard UInt(bitPattern: keyCount) < 24, keyCount < remaining else { return nil }
    let headCount = 1 &+ keyCount
    let count = unsafe ShortItem.byteCount(at: position + headCount, remaining &- headCount)
    guard count > 0 else { return nil }
    unsafe position += headCount &+ count
    return keyCount
  }

  /// Moves behind the next item, whatever it holds.
  ///
  /// - Complexity: O(*n*) in the heads inside the item.
  package mutating func skip() throws(CBORError) {
    let count = unsafe ShortItem.byteCount(at: position, remaining)
    if count > 0 { return advance(by: count) }
    // With definite lengths a count of the items to come replaces a stack. It can't overflow: counts
    // have been checked against the bytes left.
    var items = 1
    while items > 0 {
      items -= 1
      let head = try head()
      switch head.major {
      case .unsigned, .negative, .simple: break
      case .bytes, .text: advance(by: Int(head.argument))
      case .array: items += Int(head.argument)
      case .map: items += 2 * Int(head.argument)
      case .tag: items += 1
      }
    }
  }
}

/// How long items are whose first byte, or first two, say it: numbers, short texts and the like, as most
/// are.
enum ShortItem {
  /// For each first byte the byte count of the item; 0 if it doesn't tell, 127 if the second byte has the
  /// count of a text.
  ///
  /// A text, because that is the one constant that is looked at where the program lies: all counts are
  /// ASCII.
  private static var byteCounts: StaticString {
    """
    \u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\
    \u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{2}\u{3}\u{5}\u{9}\u{0}\u{0}\u{0}\u{0}\
    \u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\
    \u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{2}\u{3}\u{5}\u{9}\u{0}\u{0}\u{0}\u{0}\
    \u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\u{9}\u{a}\u{b}\u{c}\u{d}\u{e}\u{f}\u{10}\
    \u{11}\u{12}\u{13}\u{14}\u{15}\u{16}\u{17}\u{18}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\u{9}\u{a}\u{b}\u{c}\u{d}\u{e}\u{f}\u{10}\
    \u{11}\u{12}\u{13}\u{14}\u{15}\u{16}\u{17}\u{18}\u{7f}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{1}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{1}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}\u{0}\u{1}\u{1}\u{1}\u{0}\u{0}\u{3}\u{5}\u{9}\u{0}\u{0}\u{0}\u{0}\

    """
  }

  private static let textWithCount = 0x7F

  /// How many bytes an item has.
  ///
  /// - Parameters:
  ///   - address: Where it begins.
  ///   - remaining: How many bytes are there.
  /// - Returns: 0 for items that are not short and for one that is not whole.
  @inline(__always)
  static func byteCount(at address: UnsafeRawPointer, _ remaining: Int) -> Int {
    guard remaining > 0 else { return 0 }
    // In bounds: a byte is there, and the second is looked at only if there are two. The table has 256.
    let first = unsafe Int(address.load(as: UInt8.self))
    var count = unsafe Int(byteCounts.utf8Start[first])
    if count == textWithCount {
      guard remaining > 1 else { return 0 }
      count = unsafe 2 &+ Int(address.load(fromByteOffset: 1, as: UInt8.self))
    }
    return count <= remaining ? count : 0
  }
}
