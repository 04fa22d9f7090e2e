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
    unsafe start = key - offset
    self.sizeInBytes = sizeInBytes
    let page = unsafe Page(at: start, byteCount: sizeInBytes)
    guard page.flags == PageFormat.Flags.leaf,
      offset >= PageFormat.headerByteCount + PageFormat.nodeHeaderByteCount,
      page.nodeHeader(at: offset - PageFormat.nodeHeaderByteCount)?.flags == 0
    else { return nil }
    count = page.nodeCount
    guard count > 0 else { return nil }
  }

  /// Where an entry lies.
  ///
  /// - Parameter index: Any number.
  /// - Returns: `nil` if there is no such entry, or it is not plain.
  @inline(__always)
  func entry(at index: Int) -> CursorEntry? {
    guard UInt(bitPattern: index) < UInt(bitPattern: count) else { return nil }
    let page = page
    guard let node = page.node(index), node.flags == 0, node.keyByteCount > 0,
      let value = unsafe page.valueBytes(of: node)
    else { return nil }
    return unsafe CursorEntry(key: page.keyBytes(of: node), value: value)
  }

  /// Finds the entry whose key lies at an address on this page.
  ///
  /// - Parameters:
  ///   - key: The address.
  ///   - isNearEnd: Whether it may be the last one.
  /// - Returns: Its index; `nil` if there is none.
  func index(ofKeyAt key: UnsafeRawPointer, isNearEnd: Bool) -> Int? {
    let offset = unsafe key - start - PageFormat.nodeHeaderByteCount
    let page = page
    if isNearEnd, page.nodeOffset(count - 1) == offset { return count - 1 }
    for index in 0..<count where page.nodeOffset(index) == offset { return index }
    return nil
  }

  /// The page, which has at least one entry.
  private var page: Page {
    @_lifetime(immortal)
    @inline(__always)
    get { unsafe Page(at: start, byteCount: sizeInBytes) }
  }

  /// The page size of the system, on which the map begins: up to it pages lie at multiples of their size.
  static let sizeInBytesMax = Int(sysconf(Int32(_SC_PAGESIZE)))
}
