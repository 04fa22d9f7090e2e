import Foundation

/// A clock that goes on when a test says so.
public final class ManualClock: Clock, @unchecked Sendable {
  /// A time of the clock, counted from its making.
  public struct Instant: InstantProtocol {
    /// The time since the clock was made.
    public var offset: Duration

    /// The time so much later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// How long it is until another time.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether one time is before another.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  // Sendable because everything below is used under the lock.
  private let lock = NSLock()
  private var time = Instant(offset: .zero)
  private var sleepers: [UUID: Sleeper] = [:]
  private var cancelled: Set<UUID> = []
  private var watchers: [(Int, CheckedContinuation<Void, Never>)] = []
  private var sleepCount = 0

  /// Makes a clock that shows zero.
  public init() {}

  /// The time that the clock shows.
  public var now: Instant { lock.withLock { time } }

  /// The smallest step.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// How long the sleepers want to sleep yet, the shortest first.
  public var remaining: [Duration] {
    lock.withLock { sleepers.values.map { time.duration(to: $0.deadline) }.sorted() }
  }

  /// Waits until the clock shows a time.
  ///
  /// - Parameters:
  ///   - deadline: The time.
  ///   - tolerance: Without effect.
  /// - Throws: `CancellationError` when the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = UUID()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        var ready: [CheckedContinuation<Void, Never>] = []
        let outcome: Result<Void, any Error>? = lock.withLock {
          if cancelled.remove(id) != nil { return .failure(CancellationError()) }
          sleepCount += 1
          ready = watchers.filter { $0.0 <= sleepCount }.map(\.1)
          watchers.removeAll { $0.0 <= sleepCount }
          if deadline <= time { return .success(()) }
          sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
          return nil
        }
        for watcher in ready { watcher.resume() }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let sleeper = lock.withLock { () -> Sleeper? in
        let sleeper = sleepers.removeValue(forKey: id)
        if sleeper == nil { cancelled.insert(id) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Lets time pass.
  ///
  /// - Parameter duration: How much.
  public func advance(by duration: Duration) {
    let due = lock.withLock { () -> [Sleeper] in
      time = time.advanced(by: duration)
      let due = sleepers.filter { $0.value.deadline <= time }
      for id in due.keys { sleepers[id] = nil }
      return Array(due.values)
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Waits until somebody has begun to sleep for the nth time since the clock was made.
  ///
  /// - Parameters:
  ///   - count: Which time, from 1.
  ///   - file: Where; the watchdog names it when nobody begins to sleep.
  ///   - line: Where.
  public func slept(_ count: Int, file: StaticString = #fileID, line: UInt = #line) async {
    let wait = Waits.begin("\(file):\(line) waits for sleep \(count) of a clock")
    defer { Waits.end(wait) }
    await withCheckedContinuation { continuation in
      let isThere = lock.withLock { () -> Bool in
        if sleepCount >= count { return true }
        watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
