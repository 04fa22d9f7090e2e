import CPandoLMDB
import PandoSystem

/// A leaf page in the map, whose entries are read directly.
///
/// A step of liblmdb's cursor costs several times as much as reading the next entry of the page.
/// ``PageFormat`` defines the layout. Entries are checked against the size of the page. liblmdb
/// reads those that are not plain: values on overflow pages, tables, several values.
@safe
struct LeafPage {
  /// Whether the loaded liblmdb uses the layout of ``PageFormat``, as all of 0.9 do.
  static let hasKnownLayout: Bool = {
    var (major, minor) = (CInt(0), CInt(0))
    _ = unsafe mdb_version(&major, &minor, nil)
    return major == 0 && minor == 9
  }()

  /// No page: it has no entries.
  static var none: LeafPage { LeafPage() }

  /// The number of entries.
  let count: Int
  private let sizeInBytes: Int
  /// The first byte of the page; not read while `count` is 0.
  private let start: UnsafeRawPointer

  private init() {
    count = 0
    sizeInBytes = 0
    // The address is not used.
    unsafe start = UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
  }

  /// The page of a key that liblmdb found; `nil` if the page or the entry is not plain.
  ///
  /// - Parameters:
  ///   - key: The address of the key in the map; its page must not change meanwhile.
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

  /// The bytes of an entry.
  ///
  /// - Parameter index: Any number.
  /// - Returns: `nil` if there is no such entry, or if it is not plain.
  @inline(__always)
  func entry(at index: Int) -> CursorEntry? {
    guard UInt(bitPattern: index) < UInt(bitPattern: count) else { return nil }
    let page = page
    guard let node = page.node(index), node.flags == 0, node.keyByteCount > 0,
      let value = unsafe page.valueBytes(of: node)
    else { return nil }
    return unsafe CursorEntry(key: page.keyBytes(of: node), value: value)
  }

  /// Finds the entry whose key has an address on this page.
  ///
  /// - Parameters:
  ///   - key: The address.
  ///   - isNearEnd: Whether it may be the last entry.
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

  /// The page size of the system, to which the map is aligned: pages up to it are aligned, too.
  static let sizeInBytesMax = Int(sysconf(Int32(_SC_PAGESIZE)))
}
