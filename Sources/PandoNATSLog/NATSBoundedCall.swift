#if NATS
  import PandoSystem

  /// Runs a call of the library on another thread, and waits for it by a monotonic clock.
  ///
  /// The library (3.4.1) waits by the wall clock: setting the clock back extends its waits.
  ///
  /// - Parameters:
  ///   - deadline: The end of the wait.
  ///   - isOver: Called from time to time; `true` ends the wait.
  ///   - body: The call. It may end much later; its result is then dropped.
  /// - Returns: The result of the call; `nil` if the wait ended first.
  func boundedCall<Result: Sendable>(
    until deadline: Int64, unless isOver: @Sendable () -> Bool = { false },
    _ body: @escaping @Sendable () -> Result
  ) -> Result? {
    let answer = Monitor<Result?>(nil)
    SharedThreads.runSomewhere {
      let result = body()
      answer.withLock { $0 = result }
      answer.notifyAll()
    }
    let found = answer.waiting(until: deadline, checkingEach: boundedCallStep) {
      answer -> Result?? in
      if let answer { return answer }
      return isOver() ? .some(nil) : nil
    }
    return found ?? nil
  }

  /// In nanoseconds, between two checks whether to go on waiting.
  private let boundedCallStep: Int64 = 50_000_000
#endif
