import Dispatch

/// Something that happens once and that threads can wait for.
public final class Event: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  /// Makes an event that has not happened.
  public init() {}

  /// Says that it has happened.
  public func signal() {
    semaphore.signal()
  }

  /// Waits until it has happened; returns at once afterwards.
  public func wait() {
    semaphore.wait()
    semaphore.signal()
  }
}
