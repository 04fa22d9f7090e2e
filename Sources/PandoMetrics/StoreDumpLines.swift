import PandoReplication
public import PandoStore
import PandoSystem

/// The lines of a dump, as they are asked for.
///
/// ```swift
/// for try await line in store.dump() {
///   try file.write(contentsOf: Data((line + "\n").utf8))
/// }
/// ```
///
/// Each loop is a dump of the version that is the newest when it begins, made on a thread of its own, which
/// waits for who takes the lines: that version is kept until the loop ends. A loop that is left, or whose task is
/// cancelled, ends the dump.
public struct StoreDumpLines: AsyncSequence, Sendable {
  let store: ModelStore
  let progress: (@Sendable (StoreProgress) -> Void)?

  /// Begins a dump.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(store, progress)
  }

  /// Gives one line after another.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let source: DumpSource
    private var lines: [String] = []
    /// How many of the lines are given.
    private var given = 0

    init(_ store: ModelStore, _ progress: (@Sendable (StoreProgress) -> Void)?) {
      source = DumpSource(store, progress)
    }

    /// Returns the next line, without a line break; `nil` behind the last one.
    ///
    /// - Throws: `CancellationError` if the task is cancelled; `StoreError` or `LMDBError` when the store
    ///   can't be read.
    /// - Complexity: O(1), and the wait for the thread that makes the line.
    public mutating func next() async throws -> String? {
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
  /// Gives one committed version as lines of JSON from which ``load(nextLine:)`` makes an equal store, without
  /// blocking a thread of the caller's.
  ///
  /// - Parameter progress: Told how far the dump has come, about once each thousand nodes; on the thread that dumps.
  /// - Returns: The lines, as the other form gives them to its closure.
  /// - Complexity: O(*n*); lines are made as they are asked for, a few hundred ahead.
  public func dump(progress: (@Sendable (StoreProgress) -> Void)? = nil) -> StoreDumpLines {
    StoreDumpLines(store: self, progress: progress)
  }
}

/// The end of a dump that its reader holds: when it goes, the dump ends.
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

  /// The next lines; none behind the last one.
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
      if count.isMultiple(of: 1000) || count == total { progress?(StoreProgress(count, of: total)) }
    }
  }
}

/// Lines on their way from the thread that makes them to the task that asks for them.
private final class DumpLineQueue: Sendable {
  typealias Reader = CheckedContinuation<[String], any Error>

  private struct State {
    var lines: [String] = []
    var reader: Reader?
    /// How the dump has ended.
    var end: Result<Void, any Error>?
    var isCancelled = false
  }

  /// How many lines are made ahead.
  private static let countMaximum = 256
  /// How long it waits until it looks again whether the store closes, in nanoseconds.
  private static let pause: Int64 = 50_000_000
  private let state = Monitor(State())
  /// Why no more lines may be made, if it is so.
  private let obstacle: @Sendable () -> StoreError?

  init(_ obstacle: @escaping @Sendable () -> StoreError?) { self.obstacle = obstacle }

  /// Adds a line; waits while there are many.
  func put(_ line: String) throws {
    let reader = try state.waiting { state, pause -> Result<Reader?, any Error>? in
      if state.isCancelled { return .failure(CancellationError()) }
      if state.lines.count >= Self.countMaximum {
        // Whoever closes the store may be the one who takes the lines.
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

  /// Answers a reader with what there is, or as soon as there is something.
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
