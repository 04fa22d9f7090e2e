import PandoSystem

/// The writes that share a flush, and the callers that wait for its end.
///
/// One broadcast wakes them all: to wake each by itself cost the writer thread more than its write.
final class WriteTurn: Sendable {
  private let isOver = Monitor(false)

  /// Waits until every write of the turn is committed or has failed.
  func wait() {
    isOver.waiting { $0 ? () : nil }
  }

  /// Lets all go who wait.
  func end() {
    isOver.withLock { $0 = true }
    isOver.notifyAll()
  }
}
