import PandoLMDB
import PandoSystem

/// Watches for commits of other processes, on its own thread, while the store has followers.
///
/// ```
/// other process ─► commit ─► wake ─► watcher ─► followers queue a look ─► pipeline reads, and shows
/// ```
/// It takes no lock of LMDB, and commits of this process do not wake it.
final class CommitWatcher: Sendable {
  /// The interval of checks without a wake, which also repeats failed reads.
  private static let interval = Duration.seconds(1)

  private let environment: Environment
  private let pollingHandler = Locked<(@Sendable (String) -> Void)?>(nil)

  init(_ environment: Environment) { self.environment = environment }

  /// Sets a handler for the reason why the watcher polls instead of sleeping.
  func onPolling(_ handler: @escaping @Sendable (_ reason: String) -> Void) {
    pollingHandler.withLock { $0 = handler }
  }

  /// Starts the thread; it ends without followers, or when the environment is closed.
  ///
  /// - Returns: `false` if the system can't start a thread.
  func start(_ feed: CommitFeed) -> Bool {
    tryStartingThread(named: "pando.watcher") { self.watch(feed) } == 0
  }

  private func watch(_ feed: CommitFeed) {
    if let reason = environment.pollingReason { pollingHandler.withLock(\.self)?(reason) }
    var seen: UInt64 = 0
    while true {
      do {
        seen = try environment.waitForOthersCommit(after: seen, timeout: Self.interval) ?? seen
      } catch {
        return
      }
      // The watcher does not retain followers while it waits.
      if !feed.othersMayHaveCommitted() { return }
    }
  }
}
