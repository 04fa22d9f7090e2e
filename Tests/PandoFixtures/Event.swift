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
  ///
  /// - Parameters:
  ///   - file: Where; the watchdog names it when the event never comes.
  ///   - line: Where.
  public func wait(file: StaticString = #fileID, line: UInt = #line) {
    Waits.during("an event", file, line) { semaphore.wait() }
    semaphore.signal()
  }
}
