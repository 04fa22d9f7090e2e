import CPandoLMDB
import PandoSystem

/// A leaf page in the map, whose entries are read where they lie.
///
/// A step of liblmdb's cursor costs several times as much as looking at the next entry of the page. The
/// layout is that of ``PageFormat``. What an entry says is checked against the size of the page; what is
/// not plain (a value on pages of its own, a table, several values) is left to liblmdb.
@safe
struct LeafPage {
  /// Whether the liblmdb that is loaded lays pages out as ``PageFormat`` says: all of 0.9 do.
  static let hasKnownLayout: Bool = {
    var (major, minor) = (CInt(0), CInt(0))
    _ = unsafe mdb_version(&major, &minor, nil)
    return major == 0 && minor == 9
  }()

  /// No page: it has no entries.
  static var none: LeafPage { LeafPage() }

  /// How many entries it has.
  let count: Int
  private let sizeInBytes: Int
  /// Where the page begins; never read while `count` is 0.
  private let start: UnsafeRawPointer

  private init() {
    count = 0
    sizeInBytes = 0
    // Any address will do.
    unsafe start = UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
  }

  /// The page on which liblmdb found a key; `nil` if the page or the entry is not plain.
  ///
  /// - Parameters:
  ///   - key: Where the key lies: in the map, on a page that nobody changes while the result is used.
  ///   - sizeInBytes: The page size of the environment, at most ``sizeInBytesMax``.
  @unsafe
  init?(holdingKeyAt key: UnsafeRawPointer, sizeInBytes: Int) {
    let offset = Int(bitPattern: key) & (sizeInBytes - 1)
    guard offset >= PageFormat.headerByteCount + PageFormat.nodeHeaderByteCount,
      unsafe key.load(fromByteOffset: -4, as: UInt16.self) == 0  // no flag of the entry
    else { return nil }
    unsafe start = key - offset
    self.sizeInBytes = sizeInBytes
    let flags = unsafe start.load(fromByteOffset: 10, as: UInt16.self)
    let lower = unsafe Int(start.load(fromByteOffset: 12, as: UInt16.self))
    guard flags == PageFormat.Flags.leaf, lower <= sizeInBytes else { return nil }
    count = (lower - PageFormat.headerByteCount) >> 1
    guard count > 0 else { return nil }
  }

  /// Where an entry lies.
  ///
  /// - Parameter index: Any number.
  /// - Returns: `nil` if there is no such entry, or it is not plain.
  @inline(__always)
  func entry(at index: Int) -> CursorEntry? {
    guard UInt(bitPattern: index) < UInt(bitPattern: count) else { return nil }
    let offset = offset(ofEntry: index)
    guard offset <= sizeInBytes &- PageFormat.nodeHeaderByteCount else { return nil }
    let node = unsafe start + offset
    // From the low bits: 32 of the value's size, 16 of flags, 16 of the key's size.
    let header = unsafe UInt64(littleEndian: node.loadUnaligned(as: UInt64.self))
    let valueByteCount = Int(header & 0xFFFF_FFFF)
    let keyByteCount = Int(header >> 48)
    let end = offset &+ PageFormat.nodeHeaderByteCount &+ keyByteCount &+ valueByteCount
    guard header & 0xFFFF_0000_0000 == 0, keyByteCount > 0, end <= sizeInBytes else { return nil }
    let key = unsafe node + PageFormat.nodeHeaderByteCount
    return unsafe CursorEntry(
      key: UnsafeRawBufferPointer(start: key, count: keyByteCount),
      value: UnsafeRawBufferPointer(start: key + keyByteCount, count: valueByteCount))
  }

  /// Finds the entry whose key lies at an address on this page.
  ///
  /// - Parameters:
  ///   - key: The address.
  ///   - isNearEnd: Whether it may be the last one.
  /// - Returns: Its index; `nil` if there is none.
  func index(ofKeyAt key: UnsafeRawPointer, isNearEnd: Bool) -> Int? {
    let offset = unsafe key - start - PageFormat.nodeHeaderByteCount
    if isNearEnd, self.offset(ofEntry: count - 1) == offset { return count - 1 }
    var index = 0
    while index < count {
      if self.offset(ofEntry: index) == offset { return index }
      index += 1
    }
    return nil
  }

  @inline(__always)
  private func offset(ofEntry index: Int) -> Int {
    let place = PageFormat.headerByteCount &+ index &* MemoryLayout<UInt16>.size
    return unsafe Int(start.load(fromByteOffset: place, as: UInt16.self))
  }

  /// The page size of the system, on which the map begins: up to it pages lie at multiples of their size.
  static let sizeInBytesMax = Int(sysconf(Int32(_SC_PAGESIZE)))
}
