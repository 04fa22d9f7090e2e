#if NATS
  import PandoSystem

  /// Runs a call of the library on another thread, and waits for it by a clock that is never set.
  ///
  /// The library (3.4.1) waits by the clock of the wall: one that is set back by an hour makes it wait an hour longer.
  ///
  /// - Parameters:
  ///   - deadline: How long to wait.
  ///   - isOver: Asked now and then; `true` lets the caller go.
  ///   - body: The call. It may end long after, and nobody hears of it then.
  /// - Returns: What the call returns; `nil` if it has not yet.
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
    return answer.waiting { (answer: inout Result?, nanoseconds: inout Int64?) -> Result?? in
      if let answer { return answer }
      let rest = deadline - monotonicNanoseconds()
      if rest <= 0 || isOver() { return .some(nil) }
      nanoseconds = min(rest, boundedCallStep)
      return nil
    }
  }

  /// In nanoseconds: how often a caller looks whether it is to go on waiting.
  private let boundedCallStep: Int64 = 50_000_000
#endif
