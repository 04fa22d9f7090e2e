/// A page, seen through the fields of ``PageFormat``: in a buffer of the page walker, or in the map.
///
/// The one place that reads a page's layout. Nothing here believes what the bytes say: the header is
/// there, because the initializers see to it; a node is given only if its header and its key lie on
/// the page, and where its value ends is for the caller to compare with ``PageNode/valueOffset``.
struct Page: ~Escapable {
  /// All bytes of the page.
  let bytes: Span<UInt8>

  /// Looks at the bytes of a page.
  ///
  /// *Precondition:* there are as many as a header has.
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    precondition(bytes.count >= PageFormat.headerByteCount, "\(bytes.count) bytes are no page")
    self.bytes = bytes
  }

  /// Looks at a page in the map.
  ///
  /// - Parameters:
  ///   - start: Where it begins.
  ///   - byteCount: Its size, all of which can be read and stays as it is as long as the page is used.
  @unsafe
  @_lifetime(immortal)
  @inline(__always)
  init(at start: UnsafeRawPointer, byteCount: Int) {
    // The caller answers for the lifetime.
    unsafe bytes = _overrideLifetime(
      Span(
        _unsafeStart: start.assumingMemoryBound(to: UInt8.self), count: byteCount), copying: ())
  }

  @inline(__always) var number: UInt64 { unsafe load(0) }
  @inline(__always) var flags: UInt16 { unsafe load(10) }
  @inline(__always) var lower: Int { unsafe Int(load(12) as UInt16) }
  @inline(__always) var upper: Int { unsafe Int(load(14) as UInt16) }
  @inline(__always) var overflowPageCount: UInt32 { unsafe load(12) }

  /// How many nodes the page has; 0 if its header says what cannot be.
  @inline(__always) var nodeCount: Int {
    let lower = lower
    guard lower > PageFormat.headerByteCount, lower <= bytes.count else { return 0 }
    return (lower - PageFormat.headerByteCount) >> 1
  }

  /// Where a node starts, as the page says.
  ///
  /// - Parameter index: Below ``nodeCount``, so that the offset lies on the page. Checked in debug
  ///   builds only: this is called at each step of a search.
  /// - Returns: Any number.
  @inline(__always)
  func nodeOffset(_ index: Int) -> Int {
    assert(index >= 0 && index < nodeCount, "node \(index) of \(nodeCount)")
    return unsafe Int(
      load(PageFormat.headerByteCount &+ index &* MemoryLayout<UInt16>.size) as UInt16)
  }

  /// A node.
  ///
  /// - Parameter index: Below ``nodeCount``.
  /// - Returns: `nil` if its header or its key is not on the page.
  @inline(__always)
  func node(_ index: Int) -> PageNode? {
    guard let node = nodeHeader(at: nodeOffset(index)), node.valueOffset <= bytes.count else {
      return nil
    }
    return node
  }

  /// The header of the node that starts at an offset; `nil` if the header is not on the page.
  @inline(__always)
  func nodeHeader(at offset: Int) -> PageNode? {
    guard offset >= 0, offset <= bytes.count &- PageFormat.nodeHeaderByteCount else { return nil }
    return unsafe PageNode(offset: offset, header: load(offset))
  }

  /// A node of a page that has been checked.
  ///
  /// *Precondition:* there is one, and its header and its key lie on the page.
  subscript(index: Int) -> PageNode {
    precondition(index >= 0 && index < nodeCount, "node \(index) of \(nodeCount)")
    guard let node = node(index) else { preconditionFailure("node \(index) is not on the page") }
    return node
  }

  /// Where the key of a node lies, for as long as the page does: longer than this view of it, where the
  /// page lies in the map.
  @unsafe
  @inline(__always)
  func keyBytes(of node: PageNode) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: address(node.keyOffset), count: node.keyByteCount)
  }

  /// Where the value of a node lies, likewise; `nil` if it does not end on the page.
  @unsafe
  @inline(__always)
  func valueBytes(of node: PageNode) -> UnsafeRawBufferPointer? {
    guard node.valueOffset &+ node.valueByteCount <= bytes.count else { return nil }
    return unsafe UnsafeRawBufferPointer(
      start: address(node.valueOffset), count: node.valueByteCount)
  }

  @unsafe
  @inline(__always)
  private func address(_ offset: Int) -> UnsafeRawPointer {
    // No page is without bytes.
    unsafe bytes.withUnsafeBytes { unsafe $0.baseAddress.unsafelyUnwrapped + offset }
  }

  /// A number that lies on the page.
  ///
  /// *Precondition:* all its bytes do.
  @inline(__always)
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    bytes.number(at: offset)
  }

  /// A number at an offset that has been compared with the size of the page.
  @unsafe
  @inline(__always)
  private func load<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Number {
    unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Number.self)
  }
}

extension Span<UInt8> {
  /// The number whose bytes begin at an offset.
  ///
  /// *Precondition:* all of them are there.
  @inline(__always)
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    // Any bytes are a valid integer; the call itself checks the bounds.
    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
  }
}

/// The header of a node of a branch or leaf page, and where its parts lie in the page.
struct PageNode {
  /// Where the node starts in its page.
  let offset: Int
  /// From the low bits: 32 of the value's size, 16 of flags, 16 of the key's size; of a branch the lower
  /// 48 are a page number.
  let header: UInt64

  /// What the node holds.
  @inline(__always) var flags: UInt16 { UInt16(truncatingIfNeeded: header >> 32) }
  @inline(__always) var keyByteCount: Int { Int(header >> 48) }
  @inline(__always) var keyOffset: Int { offset &+ PageFormat.nodeHeaderByteCount }
  @inline(__always) var valueOffset: Int { keyOffset &+ keyByteCount }

  /// The byte range of the key in its page.
  var keyRange: Range<Int> { keyOffset..<valueOffset }

  /// How many bytes the value has, wherever it lies.
  @inline(__always) var valueByteCount: Int { Int(header & 0xFFFF_FFFF) }

  /// The byte range of a value that lies in the page.
  var valueRange: Range<Int> { valueOffset..<valueOffset + valueByteCount }

  /// The page below a node of a branch page.
  @inline(__always) var child: UInt64 { header & 0xFFFF_FFFF_FFFF }

  /// How many bytes of a branch page the node takes.
  var branchByteCount: Int { roundedUp(PageFormat.nodeHeaderByteCount + keyByteCount) }

  /// How many bytes of a leaf page the node takes.
  var leafByteCount: Int {
    let onOverflowPages = flags & PageFormat.NodeFlags.overflow != 0
    let inPage = onOverflowPages ? MemoryLayout<UInt64>.size : valueByteCount
    return roundedUp(PageFormat.nodeHeaderByteCount + keyByteCount + inPage)
  }

  private func roundedUp(_ byteCount: Int) -> Int { (byteCount + 1) & ~1 }
}
