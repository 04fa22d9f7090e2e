import FoundationEssentials
import PandoManagers
import PandoModels
public import PandoStore
import PandoSystem

/// The requests to one server, in order: those that change something wait durably in a store.
///
/// ```swift
/// let queue = APIClientQueue.open(for: store, client: client)
/// let answer = try await queue.send(APIRequest(.get, "/books/7"))
/// let ticket = try await queue.enqueue(APIRequest(.delete, "/books/7"))  // durable from here on
/// let confirmation = try await ticket.confirmation()
/// ```
///
/// Requests about the same entity stay in order; others go side by side, as many as
/// ``APIClient/laneCountMaximum`` says. Those that change something are barriers for what is about the
/// same: each waits for all before it, and all behind it wait for it; see ``RequestStrategy``. A request
/// that changes something is kept until the server has answered and the answer is stored, across
/// connection losses and restarts; it is sent at least once. Without a store it is kept in memory.
///
/// A server that is busy is asked again later about what it has put off; other requests go on, until as
/// many have failed in a row as ``QueueConfiguration/circuitFailureCount`` says. Then, as where it can't
/// be reached, all of them wait, and one of them tries first.
///
/// - Note: Any thread. A store has one queue for each server and process: ``open(for:client:configuration:)``.
public final class APIClientQueue: Sendable {
  /// What carries the requests.
  public var client: any APIClient { runner.client }
  /// The store of the requests; `nil` if they are kept in memory.
  public let store: ModelStore?
  /// How it works.
  public let configuration: QueueConfiguration

  struct State {
    var reads: [UInt64: ReadRequest] = [:]
    var readCount: UInt64 = 0
    var cancelledWaiters: Set<UInt64> = []
    var tickets: [String: WeakReference<QueueTicket>] = [:]
    var ticketCountAtSweep = 64
    var handlers: [String: QueueAnswerHandler] = [:]
    /// The entity types whose entities may name others.
    var relatedTypes: [any Model.Type] = []
    /// The types whose entities are known to be in the store.
    var storedTypes: Set<ObjectIdentifier> = []
    var worker: Task<Void, Never>?
    var isWorking = false
    /// How often everything was forgotten.
    var generation = 0
    var isClosed = false
    /// How many containers use it: those over one store share it, and the last one closes it.
    var useCount = 0
    // Changed by the worker alone, but for `outcomes`.
    var lanes = RequestLanes()
    /// The first request that the lanes don't know.
    var firstUnknown: UInt64 = 0
    /// Those that somebody waits for and that were committed since the lanes were looked at.
    var committed: [UInt64] = []
    /// Requests that were marked as on their way when the lanes came to know them.
    var markedBefore: [UInt64: QueuedRequest] = [:]
    /// When requests were queued whose policies limit the time: the queue's age then, below zero for those of a
    /// process before.
    var queuedAt: [UInt64: Duration] = [:]
    var sending: [UInt64: Task<Void, Never>] = [:]
    /// What has become of requests, as far as it is not stored.
    var outcomes: [SentRequest] = []
    /// Those that wait on their own, because the server is busy, and why.
    var held: [UInt64: HeldRequest] = [:]
    /// Whether nothing is sent for a while.
    var isPaused = false
    /// By what a busy server has asked for that; `nil` where it is out of reach.
    var pauseError: APIError?
    /// Whether one request at a time tries if the server is there again.
    var isProbing = false
    /// How many have failed in a row.
    var failureCount = 0
    /// What was on its way when somebody wanted it at once.
    var flushed: Set<UInt64> = []
    var pauseTimer: Task<Void, Never>?
  }

  let storage: QueueStorage
  let runner: RequestRunner
  let signal = QueueSignal()
  let state = Locked(State())
  /// How old the queue is, by its clock.
  let age: @Sendable () -> Duration

  /// Makes a queue that ends with the process.
  ///
  /// - Parameters:
  ///   - client: What carries the requests.
  ///   - configuration: How it works.
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

  /// What measures the time from now on.
  private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  deinit {
    signal.close()
    state.withLock { $0 }.end(with: APIError(.closed, "queue", "the queue has ended"))
  }

  /// Returns the queue of a store and a server, the same one to all who ask for it in this process.
  ///
  /// It begins to send with ``start()`` or the first request: set the handlers of answers before.
  ///
  /// - Parameters:
  ///   - store: Where the requests are kept.
  ///   - client: What carries the requests; that of the first caller is used for all with the same
  ///     ``APIClient/identifier``.
  ///   - configuration: How it works; that of the first caller counts.
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

  /// Says who reads the answers to requests of a kind.
  ///
  /// The handler runs in the transaction that takes the request off the queue: both are stored, or
  /// neither. It may run more than once and must change nothing but the transaction. If it throws,
  /// nothing of what it did stays, and the request is set aside as failed: the server has carried it
  /// out already.
  ///
  /// - Parameters:
  ///   - name: The kind, as stored with each request; the same from start to start.
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

  /// Begins to send what is queued, such as what the last run of the service has left.
  public func start() {
    state.withLock { state in
      guard state.worker == nil, !state.isClosed else { return }
      signal.set(.request)
      // Weak, so that a queue that nobody uses any more ends.
      state.worker = Task.detached { [signal, weak self] in
        while let reasons = await signal.next() {
          guard let self else { return }
          await self.work(reasons)
          // Not without what is on its way.
          while self.isSending, let reasons = await signal.next() { await self.work(reasons) }
        }
      }
    }
  }

  /// Tries again at once what waits after a failure, and what is under way when that fails.
  public func flush() {
    start()
    signal.set(.flush)
  }

  /// Says that there is a new request.
  func wake() {
    start()
    signal.set(.request)
  }

  /// Ends the queue.
  ///
  /// Nothing more is sent, and whoever waits gets `closed`. Requests that change something stay in the
  /// store. What is on its way is cancelled, and its end is waited for.
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
  /// - Returns: The requests that change something, of all clients of the store.
  /// - Throws: `StoreError` when they can't be read.
  public func requests() throws -> [QueuedRequest] { try storage.requests() }

  /// Drops a request that waits or was refused; its caller gets `dropped`.
  ///
  /// What was written here with it stays, until an answer about the entity says otherwise. One that is on its
  /// way to the server can't be called back, and is not dropped.
  ///
  /// - Parameter number: The ``QueuedRequest/id`` of the request.
  /// - Returns: Whether there was one, and it was dropped.
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

  /// Lets those go on that wait for a request which was dropped.
  private func forget(_ entry: QueuedRequest, _ error: APIError) {
    finish(entry.token, .failure(error))
    state.withLock { state in
      state.held.removeValue(forKey: entry.id)?.timer.cancel()
      state.markedBefore[entry.id] = nil
      // What is on its way keeps its place until it is answered.
      if state.sending[entry.id] == nil { state.finish(entry.id) }
    }
    signal.set(.progress)
  }

  /// Puts a refused request at the end of the queue again.
  ///
  /// - Parameter number: The ``QueuedRequest/id`` of the request.
  /// - Returns: Whether there was one.
  /// - Throws: `StoreError` when it can't be written.
  @discardableResult
  public func retry(_ number: UInt64) async throws -> Bool {
    guard try await storage.retry(number) != nil else { return false }
    flush()
    return true
  }

  /// Whether a request is on its way, or about to be.
  private func isUnderWay(_ number: UInt64) -> Bool {
    state.withLock { $0.held[number] == nil && !$0.isClosed && $0.lanes.hasGone(number) }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Whether a request that comes now is sent now, and is alone.
  var isIdle: Bool {
    state.withLock { state in
      state.worker != nil && !state.isWorking && !state.isPaused && state.reads.isEmpty
        && state.lanes.isEmpty
    }
  }

  var isSending: Bool { state.withLock { !$0.sending.isEmpty } }
}

extension APIClientQueue.State {
  /// Lets those go on that stand in line behind a request, which has come to its end.
  mutating func finish(_ number: UInt64) {
    lanes.finish(number)
    queuedAt[number] = nil
  }

  /// Ends all that waits.
  func end(with error: APIError) {
    pauseTimer?.cancel()
    for held in held.values { held.timer.cancel() }
    for sending in sending.values { sending.cancel() }
    for read in reads.values { read.end(with: .failure(error)) }
    for ticket in tickets.values { ticket.object?.finish(.failure(error)) }
  }
}

/// What has become of a request that was sent.
final class SentRequest: Sendable {
  let entry: QueuedRequest
  let result: Result<APIResponse, APIError>

  init(_ entry: QueuedRequest, _ result: Result<APIResponse, APIError>) {
    (self.entry, self.result) = (entry, result)
  }
}

/// A request that a busy server has put off.
struct HeldRequest {
  let error: APIError
  let timer: Task<Void, Never>
}
