/// A page, or a small page inside a leaf node, seen through the fields of ``PageFormat``.
///
/// Nothing here believes what the bytes say: every access is within bounds or stops the process,
/// so whoever asks for a node has checked its offset.
struct PageBytes: ~Escapable {
  /// All bytes of the page.
  let bytes: Span<UInt8>

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
  }

  var pageNumber: UInt64 { number(at: 0) }
  var itemByteCount: Int { Int(number(at: 8) as UInt16) }
  var flags: UInt16 { number(at: 10) }
  var lower: Int { Int(number(at: 12) as UInt16) }
  var upper: Int { Int(number(at: 14) as UInt16) }
  var overflowPageCount: UInt32 { number(at: 12) }

  /// How many nodes (or fixed-size items) the page says it has.
  var nodeCount: Int { (lower - PageFormat.headerByteCount) >> 1 }

  /// Where node `index` starts, as the page says.
  func nodeOffset(_ index: Int) -> Int {
    Int(number(at: PageFormat.headerByteCount + 2 * index) as UInt16)
  }

  /// The node at `index`, whose offset has been checked.
  func node(_ index: Int) -> PageNode {
    node(at: nodeOffset(index))
  }

  /// The node that starts at `offset`, at least 8 bytes before the end of the page.
  func node(at offset: Int) -> PageNode {
    PageNode(
      offset: offset, low: number(at: offset), flags: number(at: offset + 4),
      keyByteCount: Int(number(at: offset + 6) as UInt16))
  }

  /// The number at a byte offset.
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    // Any bytes are a valid integer; the call itself checks the bounds.
    unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
  }
}

/// The header of a node of a branch or leaf page, and where its parts lie in the page.
struct PageNode {
  /// Where the node starts in its page.
  let offset: Int
  /// The byte count of the value, or the low bits of the child's page number.
  let low: UInt32
  /// What the node holds, or the high bits of the child's page number.
  let flags: UInt16
  let keyByteCount: Int

  var keyOffset: Int { offset + PageFormat.nodeHeaderByteCount }
  var valueOffset: Int { keyOffset + keyByteCount }

  /// The byte range of the key in its page.
  var keyRange: Range<Int> { keyOffset..<valueOffset }

  /// How many bytes the value has, wherever it lies.
  var valueByteCount: Int { Int(low) }

  /// The page below a node of a branch page.
  var child: UInt64 { UInt64(flags) << 32 | UInt64(low) }

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
