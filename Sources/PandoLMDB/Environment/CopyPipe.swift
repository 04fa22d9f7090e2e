import PandoSystem

/// A pipe between liblmdb, which writes a copy without a word, and the file: here its bytes are counted, and the
/// copy can be ended.
enum CopyPipe {
  /// How a copy has ended.
  enum Outcome {
    /// With what liblmdb says: 0 if it is whole.
    case copied(CInt)
    /// The caller had enough.
    case ended
    /// The file takes no more, with this error of the system.
    case notWritten(CInt)
  }

  /// How many bytes lie between two questions whether to go on, at most; as much as is read at once.
  static let partByteCount = 64 << 10

  /// Copies to a file.
  ///
  /// - Parameters:
  ///   - file: Where the copy goes.
  ///   - goesOn: Told how many bytes are written; returns `false` to end the copy.
  ///   - write: Writes the copy into a pipe, on a thread of its own; returns what liblmdb says.
  /// - Returns: How it has ended. `write` has returned then.
  static func copy(
    to file: CInt, _ goesOn: (Int) -> Bool, _ write: @escaping @Sendable (CInt) -> CInt
  ) -> Outcome {
    // Sockets and no pipe: a forked child has both ends too, and would keep this waiting.
    guard let (readEnd, writeEnd) = connectedSockets() else { return .notWritten(errno) }
    let said = Monitor<CInt?>(nil)
    let status = tryStartingThread(named: "pando.copy") {
      // Where nobody reads any more the writing is to fail, and a handler of the service's must not interrupt it:
      // for liblmdb that is an error.
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

  /// Brings what comes out of a pipe to a file.
  ///
  /// - Returns: `nil` when all of it is there.
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
