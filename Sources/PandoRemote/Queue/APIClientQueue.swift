import FoundationEssentials
import PandoManagers
import PandoModels
public import PandoStore
import PandoSystem

/// A queue of the requests to one server; requests that change data wait durably in a store.
///
/// ```swift
/// let queue = APIClientQueue.open(for: store, client: client)
/// let answer = try await queue.send(APIRequest(.get, "/books/7"))
/// let ticket = try await queue.enqueue(APIRequest(.delete, "/books/7"))  // durable from here on
/// let confirmation = try await ticket.confirmation()
/// ```
///
/// Requests for one entity are sent in order, others in parallel, up to ``APIClient/laneCountMaximum``. A request that
/// changes data waits for all earlier requests for its entities, and the later ones wait for it; see
/// ``RequestStrategy``. It stays in the queue until its answer is stored, across lost connections and restarts. The
/// server gets it at least once. Without a store the requests are in memory.
///
/// A busy server delays one request and those that wait for it. After ``QueueConfiguration/circuitFailureCount``
/// failures in a row, or if the server is out of reach, all requests wait, and the queue then sends one request
/// first.
///
/// - Note: Any thread. A store has one queue for each server and process: ``open(for:client:configuration:)``.
public final class APIClientQueue: Sendable {
  /// The transport of the requests.
  public var client: any APIClient { runner.client }
  /// The store of the requests; `nil` if they are kept in memory.
  public let store: ModelStore?
  /// The configuration.
  public let configuration: QueueConfiguration

  /// The state, guarded by a lock.
  ///
  /// `reads` and `tickets` have the callers that wait, `lanes` the order of all requests. `sending`, `outcomes` and
  /// `held` have the requests that were taken from the lanes. `isPaused` to `pauseTimer` describe whether the server
  /// is available.
  struct State {
    var reads: [UInt64: ReadRequest] = [:]
    var readCount: UInt64 = 0
    var cancelledWaiters: Set<UInt64> = []
    var tickets: [String: WeakReference<QueueTicket>] = [:]
    var ticketCountAtSweep = 64
    var handlers: [String: QueueAnswerHandler] = [:]
    /// The registered entity types, whose entities may name others.
    var relatedTypes: [any Model.Type] = []
    /// The types whose entities are in the store.
    var storedTypes: Set<ObjectIdentifier> = []
    var worker: Task<Void, Never>?
    var isWorking = false
    /// The number of calls of ``forgetAll()``.
    var generation = 0
    var isClosed = false
    /// The number of containers that share it; the last one closes it.
    var useCount = 0
    var lanes = RequestLanes()
    /// The number of the first request that is not in the lanes yet.
    var firstUnknown: UInt64 = 0
    /// The requests of tickets that were committed since the worker added requests to the lanes.
    var committed: [UInt64] = []
    /// The requests that were marked as on their way before they were added to the lanes.
    var markedBefore: [UInt64: QueuedRequest] = [:]
    /// The age of the queue when it got a request whose policy limits the time; below zero for an earlier process.
    var queuedAt: [UInt64: Duration] = [:]
    var sending: [UInt64: Task<Void, Never>] = [:]
    /// The results of requests that are not stored yet.
    var outcomes: [SentRequest] = []
    /// The requests that a busy server has delayed.
    var held: [UInt64: HeldRequest] = [:]
    /// Whether the queue sends nothing until the pause ends.
    var isPaused = false
    /// The answer of a busy server that began the pause; `nil` if the server is out of reach.
    var pauseError: APIError?
    /// Whether the queue sends one request at a time, until the server answers again.
    var isProbing = false
    /// The number of failures in a row.
    var failureCount = 0
    /// The requests that were on their way at the last ``flush()``.
    var flushed: Set<UInt64> = []
    var pauseTimer: Task<Void, Never>?
  }

  let storage: QueueStorage
  let runner: RequestRunner
  let signal = QueueSignal()
  let state = Locked(State())
  /// Returns the age of the queue by its clock.
  let age: @Sendable () -> Duration

  /// Makes a queue that ends with the process.
  ///
  /// - Parameters:
  ///   - client: The transport of the requests.
  ///   - configuration: The configuration.
  public convenience init(
    client: any APIClient, configuration: QueueConfiguration = QueueConfiguration()
  ) {
    self.init(nil, client: client, configuration: configuration)
  }

  private init(_ store: ModelStore?, client: any APIClient, configuration: QueueConfiguration) {
    self.store = store
    self.configuration = configuration
    age = Self.stopwatch(configuration.clock)
    storage = QueueStorage(store)
    runner = RequestRunner(
      client: client, kept: KeptAnswers(byteCountMaximum: configuration.keptByteCountMaximum))
  }

  /// Returns a closure that measures the time from now on.
  private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  deinit {
    signal.close()
    state.withLock { $0 }.end(with: APIError(.closed, "queue", "the queue has ended"))
  }

  /// Returns the queue of a store and a server, the same one for all callers in this process.
  ///
  /// It begins to send with ``start()`` or the first request. Set the handlers of answers before that.
  ///
  /// - Parameters:
  ///   - store: The store of the requests.
  ///   - client: The transport of the requests; the queue uses that of the first caller with the same
  ///     ``APIClient/identifier``.
  ///   - configuration: The configuration; that of the first caller counts.
  /// - Returns: The queue.
  public static func open(
    for store: ModelStore, client: any APIClient,
    configuration: QueueConfiguration = QueueConfiguration()
  ) -> APIClientQueue {
    ServerLinks.open { (queue: APIClientQueue) in
      queue.store === store && !queue.isClosed
        && queue.client.identifier.hasSameBytes(as: client.identifier)
    } else: {
      APIClientQueue(store, client: client, configuration: configuration)
    }
  }

  /// Sets the handler of the answers to requests of a kind.
  ///
  /// The handler runs in the transaction that removes the request from the queue: both are stored, or neither. It may
  /// run more than once, and must change nothing but the transaction. If it throws, its changes are rolled back. The
  /// request is then kept as failed, because the server has already carried it out.
  ///
  /// - Parameters:
  ///   - name: The kind, which each request stores; it must stay the same after a restart.
  ///   - handler: Gets the answer, the request, and the transaction. Not called without a store.
  public func setAnswerHandler(
    named name: String,
    _ handler:
      @escaping @Sendable (APIResponse, QueuedRequest, inout ModelTransaction) throws -> Void
  ) {
    setAnswerHandler(named: name, QueueAnswerHandler(store: handler))
  }

  func setAnswerHandler(named name: String, _ handler: QueueAnswerHandler) {
    state.withLock { $0.handlers[name] = handler }
  }

  /// Begins to send queued requests, also those of the last run of the service.
  public func start() {
    state.withLock { state in
      guard state.worker == nil, !state.isClosed else { return }
      signal.set(.request)
      // Weak, so that a queue without users ends.
      state.worker = Task.detached { [signal, weak self] in
        while let reasons = await signal.next() {
          guard let self else { return }
          await self.work(reasons)
          // The queue does not end while requests are on their way.
          while self.isSending, let reasons = await signal.next() { await self.work(reasons) }
        }
      }
    }
  }

  /// Sends requests that wait after a failure at once, and those on their way again at once if they fail.
  public func flush() {
    start()
    signal.set(.flush)
  }

  /// Wakes the worker for a new request.
  func wake() {
    start()
    signal.set(.request)
  }

  /// Closes the queue, and waits for the end of requests on their way, which it cancels.
  ///
  /// It sends nothing more, and callers that wait get `closed`. Requests that change data stay in the store.
  public func close() async {
    let ended = state.withLock { state in
      let ended = state
      state.isClosed = true
      state.reads = [:]
      state.tickets = [:]
      state.pauseTimer = nil
      return ended
    }
    signal.close()
    ended.worker?.cancel()
    ended.end(with: APIError(.closed, "queue", "the queue was closed"))
    for sending in ended.sending.values { await sending.value }
    await ended.worker?.value
  }

  /// Returns the requests that wait, in their order, then those that were refused.
  ///
  /// - Returns: The requests that change data, of all clients of the store.
  /// - Throws: `StoreError` when they can't be read.
  public func requests() throws -> [QueuedRequest] { try storage.requests() }

  /// Drops a request that waits or was refused; its caller gets `dropped`.
  ///
  /// Its local write stays until an answer about the entity replaces it. A request that is in flight is not dropped.
  ///
  /// - Parameter number: The ``QueuedRequest/id`` of the request.
  /// - Returns: Whether the request was dropped.
  /// - Throws: `StoreError` when it can't be removed.
  @discardableResult
  public func drop(_ number: UInt64) async throws -> Bool {
    let queues = store.map { ServerLinks.links(of: $0).compactMap { $0 as? APIClientQueue } }
    let all = queues ?? [self]
    let removed = try await storage.remove(number) { entry in
      entry.state == .inFlight && all.contains { $0.isUnderWay(entry.id) }
    }
    guard let entry = removed else { return false }
    let error = APIError(.dropped, entry.request, "it was dropped from the queue")
    for queue in all { queue.forget(entry, error) }
    return true
  }

  /// Ends the ticket of a dropped request, and lets requests behind it continue.
  private func forget(_ entry: QueuedRequest, _ error: APIError) {
    finish(entry.token, .failure(error))
    state.withLock { state in
      state.held.removeValue(forKey: entry.id)?.timer.cancel()
      state.markedBefore[entry.id] = nil
      // A request in flight keeps its lanes until it is answered.
      if state.sending[entry.id] == nil { state.finish(entry.id) }
    }
    signal.set(.progress)
  }

  /// Puts a refused request at the end of the queue again.
  ///
  /// - Parameter number: The ``QueuedRequest/id`` of the request.
  /// - Returns: Whether there was such a request.
  /// - Throws: `StoreError` when it can't be written.
  @discardableResult
  public func retry(_ number: UInt64) async throws -> Bool {
    guard try await storage.retry(number) != nil else { return false }
    flush()
    return true
  }

  /// Whether a request is in flight, or about to be.
  private func isUnderWay(_ number: UInt64) -> Bool {
    state.withLock { $0.held[number] == nil && !$0.isClosed && $0.lanes.hasGone(number) }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Whether a request that is queued now is sent at once, as the only one.
  var isIdle: Bool {
    state.withLock { state in
      state.worker != nil && !state.isWorking && !state.isPaused && state.reads.isEmpty
        && state.lanes.isEmpty
    }
  }

  var isSending: Bool { state.withLock { !$0.sending.isEmpty } }
}

extension APIClientQueue.State {
  /// Removes a request from the lanes, so that those behind it continue.
  mutating func finish(_ number: UInt64) {
    lanes.finish(number)
    queuedAt[number] = nil
  }

  /// Ends callers that wait and requests on their way with an error.
  func end(with error: APIError) {
    pauseTimer?.cancel()
    for held in held.values { held.timer.cancel() }
    for sending in sending.values { sending.cancel() }
    for read in reads.values { read.end(with: .failure(error)) }
    for ticket in tickets.values { ticket.object?.finish(.failure(error)) }
  }
}

/// The result of a request that was sent.
final class SentRequest: Sendable {
  let entry: QueuedRequest
  let result: Result<APIResponse, APIError>

  init(_ entry: QueuedRequest, _ result: Result<APIResponse, APIError>) {
    (self.entry, self.result) = (entry, result)
  }
}

/// Why a busy server has delayed a request, and the timer of the delay.
struct HeldRequest {
  let error: APIError
  let timer: Task<Void, Never>
}
