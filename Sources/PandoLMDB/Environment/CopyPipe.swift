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

  /// How many bytes lie between two questions whether to go on, at most; what a pipe holds by default.
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
    var ends: [CInt] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { return .notWritten(errno) }
    let (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let said = Monitor<CInt?>(nil)
    let status = tryStartingThread(named: "pando.copy") {
      // A pipe that nobody reads any more is an error, and not the end of the process.
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, SIGPIPE)
      unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
      let status = write(writeEnd)
      PandoSystem.close(writeEnd)
      said.withLock { $0 = status }
      said.notify()
    }
    guard status == 0 else {
      for end in ends { PandoSystem.close(end) }
      return .notWritten(status)
    }
    let ending = drain(readEnd, to: file, goesOn)
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
