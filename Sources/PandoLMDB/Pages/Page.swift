/// A view of a page through the fields of ``PageFormat``, in a buffer or in the map.
///
/// Only this type reads a page's layout, and it trusts no bytes. The initializers ensure that the
/// header exists. A node is returned only if its header and key lie on the page. The caller
/// compares the end of its value, from ``PageNode/valueOffset``.
struct Page: ~Escapable {
  /// All bytes of the page.
  let bytes: Span<UInt8>

  /// Makes a view of the bytes of a page.
  ///
  /// *Precondition:* there are at least as many as a header has.
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    precondition(bytes.count >= PageFormat.headerByteCount, "\(bytes.count) bytes are no page")
    self.bytes = bytes
  }

  /// Makes a view of a page in the map.
  ///
  /// - Parameters:
  ///   - start: The first byte of the page.
  ///   - byteCount: Its size; all of it stays readable and unchanged while the page is used.
  @unsafe
  @_lifetime(immortal)
  @inline(__always)
  init(at start: UnsafeRawPointer, byteCount: Int) {
    // The caller ensures the lifetime.
    unsafe bytes = _overrideLifetime(
      Span(
        _unsafeStart: start.assumingMemoryBound(to: UInt8.self), count: byteCount), copying: ())
  }

  @inline(__always) var number: UInt64 { unsafe load(0) }
  @inline(__always) var flags: UInt16 { unsafe load(10) }
  @inline(__always) var lower: Int { unsafe Int(load(12) as UInt16) }
  @inline(__always) var upper: Int { unsafe Int(load(14) as UInt16) }
  @inline(__always) var overflowPageCount: UInt32 { unsafe load(12) }

  /// The number of nodes; 0 if the header is impossible.
  @inline(__always) var nodeCount: Int {
    let lower = lower
    guard lower > PageFormat.headerByteCount, lower <= bytes.count else { return 0 }
    return (lower - PageFormat.headerByteCount) >> 1
  }

  /// The offset of a node, as stored in the page.
  ///
  /// - Parameter index: Below ``nodeCount``, so that the offset lies on the page. Only debug builds
  ///   check it, because each step of a search calls this method.
  /// - Returns: The stored number, unchecked.
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

  /// The header of the node at an offset; `nil` if it does not lie on the page.
  @inline(__always)
  func nodeHeader(at offset: Int) -> PageNode? {
    guard offset >= 0, offset <= bytes.count &- PageFormat.nodeHeaderByteCount else { return nil }
    return unsafe PageNode(offset: offset, header: load(offset))
  }

  /// A node of a checked page.
  ///
  /// *Precondition:* the node exists, and its header and key lie on the page.
  subscript(index: Int) -> PageNode {
    precondition(index >= 0 && index < nodeCount, "node \(index) of \(nodeCount)")
    guard let node = node(index) else { preconditionFailure("node \(index) is not on the page") }
    return node
  }

  /// The key of a node; the bytes live as long as the page, which in the map is longer than this
  /// view.
  @unsafe
  @inline(__always)
  func keyBytes(of node: PageNode) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: address(node.keyOffset), count: node.keyByteCount)
  }

  /// The value of a node, with the same lifetime; `nil` if it does not end on the page.
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
    // Every page has bytes.
    unsafe bytes.withUnsafeBytes { unsafe $0.baseAddress.unsafelyUnwrapped + offset }
  }

  /// A number on the page.
  ///
  /// *Precondition:* all its bytes lie on the page.
  @inline(__always)
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    bytes.number(at: offset)
  }

  /// A number at an offset that was compared with the size of the page.
  @unsafe
  @inline(__always)
  private func load<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Number {
    unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Number.self)
  }
}

extension Span<UInt8> {
  /// The number whose bytes begin at an offset.
  ///
  /// *Precondition:* all its bytes exist.
  @inline(__always)
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    // Any bytes are a valid integer; the call itself checks the bounds.
    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
  }
}

/// The header of a node of a branch or leaf page, and the places of its parts.
struct PageNode {
  /// The offset of the node in its page.
  let offset: Int
  /// From the low bits: 32 of the value's size, 16 of flags, 16 of the key's size; in a branch, the
  /// lower 48 are a page number.
  let header: UInt64

  /// The type of the contents.
  @inline(__always) var flags: UInt16 { UInt16(truncatingIfNeeded: header >> 32) }
  @inline(__always) var keyByteCount: Int { Int(header >> 48) }
  @inline(__always) var keyOffset: Int { offset &+ PageFormat.nodeHeaderByteCount }
  @inline(__always) var valueOffset: Int { keyOffset &+ keyByteCount }

  /// The byte range of the key in its page.
  var keyRange: Range<Int> { keyOffset..<valueOffset }

  /// The number of bytes of the value, on this page or on overflow pages.
  @inline(__always) var valueByteCount: Int { Int(header & 0xFFFF_FFFF) }

  /// The byte range of the value, if it lies in the page.
  var valueRange: Range<Int> { valueOffset..<valueOffset + valueByteCount }

  /// The child page of a node of a branch page.
  @inline(__always) var child: UInt64 { header & 0xFFFF_FFFF_FFFF }

  /// The size of the node in a branch page.
  var branchByteCount: Int { roundedUp(PageFormat.nodeHeaderByteCount + keyByteCount) }

  /// The size of the node in a leaf page.
  var leafByteCount: Int {
    let onOverflowPages = flags & PageFormat.NodeFlags.overflow != 0
    let inPage = onOverflowPages ? MemoryLayout<UInt64>.size : valueByteCount
    return roundedUp(PageFormat.nodeHeaderByteCount + keyByteCount + inPage)
  }

  private func roundedUp(_ byteCount: Int) -> Int { (byteCount + 1) & ~1 }
}
