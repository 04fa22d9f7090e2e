import PandoFixtures
import PandoSystem
import Testing

@testable import PandoLMDB

@Suite struct CopyPipeTests {
  private func withFile(_ body: (CInt) throws -> Void) throws {
    try withTemporaryDirectory { path in
      let file = unsafe open(path + "/file", O_RDWR | O_CREAT, 0o600)
      try #require(file >= 0)
      defer { close(file) }
      try body(file)
    }
  }

  private static func write(_ count: Int, to end: CInt) -> CInt {
    var bytes = [UInt8](repeating: 7, count: count)
    var written = 0
    while written < count {
      let more = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe Glibc.write(end, bytes.baseAddress.unsafelyUnwrapped + written, count - written)
      }
      if more < 0 { return errno }
      written += more
    }
    return 0
  }

  @Test func `a copy ends though a forked child has its ends too`() throws {
    try withFile { file in
      let kept = Locked<CInt>(-1)
      let told = Locked(0)
      let outcome = CopyPipe.copy(to: file) { count in
        told.withLock { $0 = count }
        return true
      } _: { end in
        // As the descriptors of a child, which stay open.
        kept.withLock { $0 = dup(end) }
        return Self.write(1_000_000, to: end)
      }
      guard case .copied(0) = outcome else {
        Issue.record("\(outcome)")
        return
      }
      #expect(told.withLock(\.self) == 1_000_000)
      #expect(lseek(file, 0, SEEK_END) == 1_000_000)
      close(kept.withLock(\.self))
    }
  }

  @Test func `a reader that closes the pipe ends the copy with an error`() throws {
    try withFile { file in
      let said = Locked<CInt>(0)
      let outcome = CopyPipe.copy(to: file) { _ in
        false
      } _: { end in
        let status = Self.write(100_000_000, to: end)
        said.withLock { $0 = status }
        return status
      }
      guard case .ended = outcome else {
        Issue.record("\(outcome)")
        return
      }
      #expect(said.withLock(\.self) == EPIPE)
    }
  }

  @Test func `a file without room ends the copy with the system's error`() throws {
    let file = unsafe open("/dev/full", O_WRONLY)
    try #require(file >= 0)
    defer { close(file) }
    let outcome = CopyPipe.copy(to: file, { _ in true }) { Self.write(1_000_000, to: $0) }
    guard case .notWritten(ENOSPC) = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }
}
