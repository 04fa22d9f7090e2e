/// Reads successive CBOR items from bytes that it does not own.
///
/// Every length is checked against the remaining bytes before use, there is no recursion, and only
/// requested texts are allocated. So arbitrary bytes cost at most linear time. The reader refuses
/// items of indefinite length, which records do not have. It accepts heads that are not shortest
/// (``CBORHead/isShortest``).
///
/// - Note: The bytes must outlive the reader. One thread at a time.
@safe package struct CBORReader {
  /// The next byte to read.
  package private(set) var position: UnsafeRawPointer
  /// The address after the last byte.
  package let end: UnsafeRawPointer
  private let start: UnsafeRawPointer

  package init(_ bytes: UnsafeRawBufferPointer) {
    // An empty buffer may have no address; any will do, because nothing is read from it.
    let address = unsafe bytes.baseAddress ?? Self.nowhere
    unsafe self.init(start: address, end: address + bytes.count)
  }

  /// Reads from `start` up to `end`, both in or at the end of one block of bytes.
  init(start: UnsafeRawPointer, end: UnsafeRawPointer) {
    unsafe self.start = start
    unsafe position = start
    unsafe self.end = end
  }

  /// An address for empty bytes; it has one byte that is never read or freed.
  private nonisolated(unsafe) static let nowhere = UnsafeRawPointer(
    UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))

  /// The number of remaining bytes.
  package var remaining: Int { unsafe end - position }

  /// The number of read bytes.
  package var offset: Int { unsafe position - start }

  /// Whether all bytes were read.
  package var isAtEnd: Bool { unsafe position >= end }

  /// Checks that all bytes were read.
  package func finish() throws(CBORError) {
    guard isAtEnd else { throw error(.trailingBytes) }
  }

  /// An error at the next byte.
  package func error(_ code: CBORError.Code) -> CBORError { CBORError(code, offset: offset) }

  /// Reads the head of the next item.
  ///
  /// For texts and byte strings, the length is checked: the bytes exist. For arrays and maps, the
  /// count is checked: at least one byte exists for each element, key and value.
  @inline(__always)
  package mutating func head() throws(CBORError) -> CBORHead {
    // Most heads are one byte: small numbers and short texts.
    if remaining > 0 {
      // In bounds: a byte is left.
      let first = unsafe position.load(as: UInt8.self)
      let information = first & 0x1F
      // The bytes that must follow: one per byte of a text, or per element, key and value.
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
    // The caller has checked that the argument's bytes exist.
    switch information {
    case 24: UInt64(unsafe address.load(as: UInt8.self))
    case 25: UInt64(unsafe UInt16(bigEndian: address.loadUnaligned(as: UInt16.self)))
    case 26: UInt64(unsafe UInt32(bigEndian: address.loadUnaligned(as: UInt32.self)))
    default: unsafe UInt64(bigEndian: address.loadUnaligned(as: UInt64.self))
    }
  }

  /// Advances over bytes that were checked.
  mutating func advance(by count: Int) { unsafe position += count }

  /// Reads the next item's head without advancing.
  package func peek() throws(CBORError) -> CBORHead {
    var copy = self
    return try copy.head()
  }

  /// Reads a field with a key of less than 24 bytes and a short value; ignores anything else.
  ///
  /// - Returns: The length of the key, which starts after the first byte and ends at the value.
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

  /// Advances past the next item.
  ///
  /// - Complexity: O(*n*) for *n* heads inside the item.
  package mutating func skip() throws(CBORError) {
    let count = unsafe ShortItem.byteCount(at: position, remaining)
    if count > 0 { return advance(by: count) }
    // With definite lengths, a count of remaining items replaces a stack. It can't overflow: counts
    // were checked against the remaining bytes.
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

/// The length of items that follows from their first one or two bytes, as for numbers and short
/// texts.
enum ShortItem {
  /// The length of an item by its first byte; 0 if that is insufficient, 127 if the second byte has
  /// the length of a text.
  ///
  /// A string literal, because it is the one constant that is read in place: all lengths are ASCII.
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

  /// The length of an item.
  ///
  /// - Parameters:
  ///   - address: The address of its first byte.
  ///   - remaining: The number of available bytes.
  /// - Returns: 0 for items that are not short or not complete.
  @inline(__always)
  static func byteCount(at address: UnsafeRawPointer, _ remaining: Int) -> Int {
    guard remaining > 0 else { return 0 }
    // In bounds: one byte exists, and the second is read only if two exist. The table has 256.
    let first = unsafe Int(address.load(as: UInt8.self))
    var count = unsafe Int(byteCounts.utf8Start[first])
    if count == textWithCount {
      guard remaining > 1 else { return 0 }
      count = unsafe 2 &+ Int(address.load(fromByteOffset: 1, as: UInt8.self))
    }
    return count <= remaining ? count : 0
  }
}
