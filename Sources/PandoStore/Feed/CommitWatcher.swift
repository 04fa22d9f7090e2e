import PandoLMDB
import PandoSystem

/// Looks for what other processes commit, on a thread of its own, while somebody follows the store.
///
/// ```
/// other process ─► commit ─► wake ─► watcher ─► followers queue a look ─► pipeline reads, and shows
/// ```
/// It takes no lock of LMDB's, and commits of this process do not wake it.
final class CommitWatcher: Sendable {
  /// After how long it has a look without a commit, also at what a look before could not read.
  private static let interval = Duration.seconds(1)

  private let environment: Environment
  private let pollingHandler = Locked<(@Sendable (String) -> Void)?>(nil)

  init(_ environment: Environment) { self.environment = environment }

  /// Has it told why it looks again and again instead of sleeping, if it does.
  func onPolling(_ handler: @escaping @Sendable (_ reason: String) -> Void) {
    pollingHandler.withLock { $0 = handler }
  }

  /// Begins; ends when nobody follows any more, or the environment is closed.
  ///
  /// - Returns: `false` if the system has no room for the thread.
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
      // Who follows is not kept alive while it waits.
      if !feed.othersMayHaveCommitted() { return }
    }
  }
}
