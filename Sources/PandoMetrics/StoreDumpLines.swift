import PandoReplication
public import PandoStore
import PandoSystem

/// The lines of a dump, made on demand.
struct StoreDumpLines: AsyncSequence, Sendable {
  let store: ModelStore
  let progress: (@Sendable (StoreProgress) -> Void)?

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(store, progress)
  }

  /// Returns one line after another.
  struct AsyncIterator: AsyncIteratorProtocol {
    private let source: DumpSource
    private var lines: [String] = []
    /// The number of lines already returned.
    private var given = 0

    init(_ store: ModelStore, _ progress: (@Sendable (StoreProgress) -> Void)?) {
      source = DumpSource(store, progress)
    }

    /// Returns the next line, without a line break; `nil` after the last one.
    mutating func next() async throws -> String? {
      if given == lines.count {
        lines = try await source.more()
        given = 0
        if lines.isEmpty { return nil }
      }
      defer { given += 1 }
      return lines[given]
    }
  }
}

extension ModelStore {
  /// Returns one committed version as lines of JSON, without blocking a thread of the caller.
  ///
  /// ```swift
  /// for try await line in store.dump() {
  ///   try file.write(contentsOf: Data((line + "\n").utf8))
  /// }
  /// ```
  ///
  /// Each loop dumps the newest version at its start, on its own thread. The thread waits for the
  /// reader; the store keeps that version until the loop ends. Leaving the loop or cancelling its
  /// task ends the dump.
  ///
  /// - Parameter progress: Called about once per thousand nodes, on the thread that dumps.
  /// - Returns: The lines that the synchronous form passes to its closure, for ``load(nextLine:)``. A
  ///   loop throws the errors of reading the store, and `CancellationError` if its task is cancelled.
  /// - Complexity: O(*n*); the thread makes lines on demand, a few hundred ahead.
  public func dump(
    progress: (@Sendable (StoreProgress) -> Void)? = nil
  ) -> some AsyncSequence<String, any Error> & Sendable {
    StoreDumpLines(store: self, progress: progress)
  }
}

/// The reader's end of a dump: its deinitializer ends the dump.
private final class DumpSource: Sendable {
  private let line: DumpLineQueue

  init(_ store: ModelStore, _ progress: (@Sendable (StoreProgress) -> Void)?) {
    let queue = DumpLineQueue { store.closedError }
    line = queue
    let status = tryStartingThread(named: "pando.dump", stackSizeInBytes: LargeStack.byteCount) {
      LargeStack.noteCurrent()
      queue.end(Result { try Self.dump(store, progress, to: queue) })
    }
    if status != 0 {
      queue.end(.failure(StoreError.noThread(store.path, status)))
    }
  }

  deinit { line.cancel() }

  /// Returns the next lines; none after the last one.
  func more() async throws -> [String] {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { line.take($0) }
    } onCancel: {
      line.cancel()
    }
  }

  private static func dump(
    _ store: ModelStore, _ progress: (@Sendable (StoreProgress) -> Void)?, to queue: DumpLineQueue
  ) throws {
    var count = 0
    try store.dump { text, isNode, total in
      try queue.put(text)
      guard isNode else { return }
      count += 1
      if count.isMultiple(of: 1000) || count == total {
        progress?(StoreProgress(.dump, count, of: total))
      }
    }
  }
}

/// Lines between the thread that makes them and the task that reads them.
private final class DumpLineQueue: Sendable {
  typealias Reader = CheckedContinuation<[String], any Error>

  private struct State {
    var lines: [String] = []
    var reader: Reader?
    /// How the dump ended.
    var end: Result<Void, any Error>?
    var isCancelled = false
  }

  /// How many lines the thread makes ahead.
  private static let countMaximum = 256
  /// The time between two checks whether the store closes, in nanoseconds.
  private static let pause: Int64 = 50_000_000
  private let state = Monitor(State())
  /// Returns the reason why no more lines may be made, if there is one.
  private let obstacle: @Sendable () -> StoreError?

  init(_ obstacle: @escaping @Sendable () -> StoreError?) { self.obstacle = obstacle }

  /// Adds a line; waits while the queue is full.
  func put(_ line: String) throws {
    let reader = try state.waiting { state, pause -> Result<Reader?, any Error>? in
      if state.isCancelled { return .failure(CancellationError()) }
      if state.lines.count >= Self.countMaximum {
        // The reader of the lines may be the one that closes the store.
        if let obstacle = obstacle() { return .failure(obstacle) }
        pause = Self.pause
        return nil
      }
      guard let reader = exchange(&state.reader, with: nil) else {
        state.lines.append(line)
        return .success(nil)
      }
      return .success(reader)
    }.get()
    reader?.resume(returning: [line])
  }

  func end(_ result: Result<Void, any Error>) {
    let reader = state.withLock { state in
      state.end = result
      return exchange(&state.reader, with: nil)
    }
    reader?.resume(with: result.map { [] })
  }

  /// Resumes a reader with the queued lines, or with the next one.
  func take(_ reader: Reader) {
    let answer = state.withLock { state -> Result<[String], any Error>? in
      if state.isCancelled { return .failure(CancellationError()) }
      if !state.lines.isEmpty { return .success(exchange(&state.lines, with: [])) }
      if let end = state.end { return end.map { [] } }
      precondition(state.reader == nil, "two calls of next() at once")
      state.reader = reader
      return nil
    }
    state.notifyAll()
    if let answer { reader.resume(with: answer) }
  }

  func cancel() {
    let reader = state.withLock { state in
      state.isCancelled = true
      return exchange(&state.reader, with: nil)
    }
    state.notifyAll()
    reader?.resume(throwing: CancellationError())
  }
}
