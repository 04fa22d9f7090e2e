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
