import PandoSystem

/// The writes of an environment that share commits: who leads, and who waits.
///
/// The thread that finds nobody else leads: it begins the transaction, lends it to one waiting
/// thread after another, commits, and tells all how it went. Writes that come while it flushes make
/// up the next group, led by the first of them.
final class CommitGroup: Sendable {
  private struct State {
    var isLed = false
    /// In the order they came.
    var waiting: [Member] = []
  }

  private let state = Locked(State())

  /// Begins to lead, or queues behind whoever does.
  ///
  /// - Returns: `nil` if the calling thread leads.
  func enter() -> Member? {
    state.withLock { state in
      guard state.isLed else {
        state.isLed = true
        return nil
      }
      let member = Member()
      state.waiting.append(member)
      return member
    }
  }

  /// The write that has waited longest, which waits for its leader's word now.
  func next() -> Member? {
    state.withLock { state in
      state.waiting.isEmpty ? nil : state.waiting.removeFirst()
    }
  }

  /// Lets the write lead that has waited longest; the caller leads no more.
  func passOn() {
    let next = state.withLock { state -> Member? in
      if state.waiting.isEmpty {
        state.isLed = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.hear(.lead)
  }
}

extension CommitGroup {
  /// What a leader tells a waiting write.
  enum Word {
    /// It leads the next group.
    case lead
    /// Its closure has its turn in the leader's transaction.
    case write(UnsafeSnapshotHandle)
    /// What it wrote is committed.
    case committed
    /// The group came to nothing: it commits alone.
    case alone
  }

  /// A write that waits, on the thread that wants it.
  final class Member: Sendable {
    private struct State {
      var word: Word?
      var hasWritten: Bool?
    }

    private let state = Monitor(State())

    /// Tells it something; on the leader's thread.
    func hear(_ word: Word) {
      state.withLock { $0.word = word }
      state.notifyAll()
    }

    /// Waits for the next thing it is told.
    func nextWord() -> Word {
      state.waiting { state in exchange(&state.word, with: nil) }
    }

    /// Lends it the transaction and waits until it has written; on the leader's thread.
    ///
    /// - Returns: `false` if its closure failed.
    func write(in transaction: UnsafeSnapshotHandle) -> Bool {
      hear(.write(transaction))
      return state.waiting { $0.hasWritten }
    }

    /// Gives the transaction back.
    func giveBack(hasWritten: Bool) {
      state.withLock { $0.hasWritten = hasWritten }
      state.notifyAll()
    }
  }
}
