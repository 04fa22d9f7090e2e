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
