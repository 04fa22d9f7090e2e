import CPeerSQLite

/// Texts for C, alive as long as the arena.
final class TextArena {
  private var blocks: [UnsafeMutablePointer<CChar>] = []
  private var free = UnsafeMutableBufferPointer<CChar>(start: nil, count: 0)

  deinit {
    for block in blocks { block.deallocate() }
  }

  /// Copies a text.
  func text(_ string: String) -> peer_text {
    var string = string
    return string.withUTF8 { bytes in
      if free.count < bytes.count { addBlock(byteCount: max(bytes.count, 1 << 20)) }
      let copy = UnsafeMutableBufferPointer(rebasing: free[..<bytes.count])
      free = UnsafeMutableBufferPointer(rebasing: free[bytes.count...])
      _ = UnsafeMutableRawBufferPointer(copy).initializeMemory(as: UInt8.self, from: bytes)
      return peer_text(bytes: copy.baseAddress, byte_count: Int32(bytes.count))
    }
  }

  private func addBlock(byteCount: Int) {
    let block = UnsafeMutablePointer<CChar>.allocate(capacity: byteCount)
    blocks.append(block)
    free = UnsafeMutableBufferPointer(start: block, count: byteCount)
  }
}
