import PandoSystem

/// A pipe between liblmdb and the file that counts the bytes and can end the copy; liblmdb itself
/// reports no progress.
enum CopyPipe {
  /// The outcome of a copy.
  enum Outcome {
    /// liblmdb returned this code: 0 if the copy is complete.
    case copied(CInt)
    /// The caller ended the copy.
    case ended
    /// The system refused to write to the file with this error.
    case notWritten(CInt)
  }

  /// The most bytes between two calls of `goesOn`; also the size of one read.
  static let partByteCount = 64 << 10

  /// Copies to a file.
  ///
  /// - Parameters:
  ///   - file: The descriptor of the file.
  ///   - goesOn: Called with the number of bytes written; returns `false` to end the copy.
  ///   - write: Writes the copy into a pipe, on a thread of its own; returns liblmdb's code.
  /// - Returns: The outcome. `write` has returned by then.
  static func copy(
    to file: CInt, _ goesOn: (Int) -> Bool, _ write: @escaping @Sendable (CInt) -> CInt
  ) -> Outcome {
    // Sockets, not a pipe: a forked child inherits both ends, and a pipe would then never end.
    guard let (readEnd, writeEnd) = connectedSockets() else { return .notWritten(errno) }
    let said = Monitor<CInt?>(nil)
    let status = tryStartingThread(named: "pando.copy") {
      // A write to a closed end must fail without a signal. A signal handler of the service must
      // not interrupt the write either: liblmdb treats that as an error.
      blockSignals()
      let status = write(writeEnd)
      shutdown(writeEnd, CInt(SHUT_WR))
      PandoSystem.close(writeEnd)
      said.withLock { $0 = status }
      said.notify()
    }
    guard status == 0 else {
      for end in [readEnd, writeEnd] { PandoSystem.close(end) }
      return .notWritten(status)
    }
    let ending = drain(readEnd, to: file, goesOn)
    shutDownSocket(readEnd)
    PandoSystem.close(readEnd)
    let copied = said.waiting { $0 }
    return ending ?? .copied(copied)
  }

  /// Copies the bytes from a pipe to a file.
  ///
  /// - Returns: `nil` when the file has all of them.
  private static func drain(
    _ pipe: CInt, to file: CInt, _ goesOn: (Int) -> Bool
  ) -> Outcome? {
    var total = 0
    return unsafe withUnsafeTemporaryAllocation(byteCount: partByteCount, alignment: 4096) { part in
      while true {
        let count = retryInterrupted { unsafe read(pipe, part.baseAddress, part.count) }
        if count == 0 { return nil }
        if count < 0 { return .notWritten(errno) }
        var written = 0
        while written < count {
          let rest = unsafe UnsafeRawBufferPointer(rebasing: part[written..<count])
          let more = retryInterrupted {
            unsafe PandoSystem.write(file, rest.baseAddress, rest.count)
          }
          if more < 0 { return .notWritten(errno) }
          written += more
        }
        total += count
        if !goesOn(total) { return .ended }
      }
    }
  }
}
