import Dispatch
import PandoFixtures
import PandoModels
import PandoProviders
import PandoSystem

/// A cache that keeps the handlers of its reads until the test answers; of lists and writes on request.
final class HandlerCache: CompletionCacheDelegate {
  /// Answers one read.
  typealias Reply = @Sendable ((any SimpleModel)?, (any Error)?) -> Void

  /// Answers one read of a list.
  typealias ListReply = @Sendable ([any SimpleModel]?, (any Error)?) -> Void
  /// Answers one write.
  typealias WriteReply = @Sendable ((any Error)?) -> Void

  private struct State {
    var holdsLists = false
    var listReplies: [String: [ListReply]] = [:]
    /// The key of a model whose next write is not answered.
    var heldKey: String?
    var writeReply: WriteReply?
    var replies: [String: [Reply]] = [:]
    var writes: [String] = []
    var collections: [String: [any SimpleModel]] = [:]
    var writeError: (any Error)?
    var waiters: [(key: String, count: Int, event: Event)] = []
    var asked: [String: Int] = [:]
  }

  private let state = Locked(State())
  private let isWriteHeld = Event()

  /// Keeps the handlers of later reads of lists, too.
  func holdLists() { state.withLock { $0.holdsLists = true } }

  /// Keeps the handler of the next write of a model.
  func holdWrite(_ cacheKey: String) { state.withLock { $0.heldKey = cacheKey } }

  /// Waits until that write has come.
  func waitUntilWriteIsHeld() async { await isWriteHeld.happened() }

  /// Takes the handler of that write.
  func takeWriteReply() -> WriteReply? {
    state.withLock { exchange(&$0.writeReply, with: nil) }
  }

  /// Takes the handler of the oldest read of a list that is not answered.
  func takeListReply(_ cacheKey: String) -> ListReply? {
    state.withLock { state in
      guard state.listReplies[cacheKey]?.isEmpty == false else { return nil }
      return state.listReplies[cacheKey]?.removeFirst()
    }
  }

  /// The writes so far.
  var writes: [String] { state.withLock { $0.writes } }

  /// Lets all later writes fail.
  func failWrites(with error: any Error) { state.withLock { $0.writeError = error } }

  /// The list that was written last under a key.
  func list(_ cacheKey: String) -> [any SimpleModel]? {
    state.withLock { $0.collections[cacheKey] }
  }

  /// How often a key was read.
  func asked(_ cacheKey: String) -> Int { state.withLock { $0.asked[cacheKey] ?? 0 } }

  /// Waits until a key has been read a number of times.
  func waitUntilAsked(_ cacheKey: String, times count: Int = 1) async {
    let event = Event()
    let isThere = state.withLock { state in
      if state.asked[cacheKey] ?? 0 >= count { return true }
      state.waiters.append((cacheKey, count, event))
      return false
    }
    if !isThere { await event.happened() }
  }

  /// Takes the handler of the oldest read of a key that is not answered.
  func takeReply(_ cacheKey: String) -> Reply? {
    state.withLock { state in
      guard state.replies[cacheKey]?.isEmpty == false else { return nil }
      return state.replies[cacheKey]?.removeFirst()
    }
  }

  /// Answers the oldest read of a key.
  func answer(_ cacheKey: String, _ model: (any SimpleModel)?, error: (any Error)? = nil) {
    takeReply(cacheKey)?(model, error)
  }

  func modelForKey<T: SimpleModel>(
    _ cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable (T?, (any Error)?) -> Void
  ) {
    state.withLock { $0.replies[cacheKey, default: []].append { completion($0 as? T, $1) } }
    noteRead(cacheKey)
  }

  private func noteRead(_ cacheKey: String) {
    let events = state.withLock { state in
      state.asked[cacheKey, default: 0] += 1
      let asked = state.asked[cacheKey] ?? 0
      let ready = state.waiters.filter { $0.key == cacheKey && $0.count <= asked }
      state.waiters.removeAll { $0.key == cacheKey && $0.count <= asked }
      return ready.map(\.event)
    }
    for event in events { event.signal() }
  }

  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    let error = note("set \(cacheKey) \(model)")
    let isHeld = state.withLock { state in
      guard state.heldKey == cacheKey else { return false }
      state.heldKey = nil
      state.writeReply = completion
      return true
    }
    if isHeld { isWriteHeld.signal() } else { completion(error) }
  }

  func collectionForKey<T: SimpleModel>(
    _ cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ([T]?, (any Error)?) -> Void
  ) {
    let isHeld = state.withLock { state in
      if state.holdsLists {
        state.listReplies[cacheKey, default: []].append { completion($0 as? [T], $1) }
      }
      return state.holdsLists
    }
    if isHeld { return noteRead(cacheKey) }
    completion(state.withLock { $0.collections[cacheKey] as? [T] }, nil)
  }

  func setCollection<T: SimpleModel>(
    _ collection: [T], forKey cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    state.withLock { $0.collections[cacheKey] = collection }
    completion(note("set collection \(cacheKey)"))
  }

  func deleteModel(
    forKey cacheKey: String, context: (any Sendable)?,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    completion(note("delete \(cacheKey)"))
  }

  private func note(_ write: String) -> (any Error)? {
    state.withLock { state in
      state.writes.append(write)
      return state.writeError
    }
  }
}

extension Event {
  /// Waits without holding a thread that tasks need.
  func happened() async {
    await withCheckedContinuation { continuation in
      waitingQueue.async {
        self.wait()
        continuation.resume()
      }
    }
  }
}

private let waitingQueue = DispatchQueue(label: "waiting", attributes: .concurrent)
