import FoundationEssentials
import PandoSystem
import PandoModels
public import PandoStore

/// The requests to one server, in order: those that change something wait durably in a store.
///
/// Requests that only read go side by side; those that change something are barriers: each waits for
/// all before it, and all behind it wait for it. A request that changes something is kept until the
/// server has answered and the answer is stored, across connection losses and restarts; it is sent at
/// least once. Without a store it is kept in memory.
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
    var tickets: [String: WeakTicket] = [:]
    var ticketCountAtSweep = 64
    var handlers: [String: QueueAnswerHandler] = [:]
    /// The entity types whose entities may name others.
    var relatedTypes: [any Model.Type] = []
    var worker: Task<Void, Never>?
    var isWorking = false
    var isClosed = false
    // Used by the worker alone.
    var isPaused = false
    var failureCount = 0
    var pauseTimer: Task<Void, Never>?
    var unstored: (entry: QueuedRequest, response: APIResponse)?
  }

  struct WeakTicket {
    weak let ticket: QueueTicket?
  }

  let storage: any QueueStorage
  let runner: RequestRunner
  let signal = QueueSignal()
  let state = Locked(State())

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
    storage = store.map(StoreQueueStorage.init) ?? MemoryQueueStorage()
    runner = RequestRunner(
      client: client, kept: KeptAnswers(byteCountMaximum: configuration.keptByteCountMaximum))
  }

  deinit {
    signal.close()
    state.withLock { $0 }.end(with: APIError(.closed, "queue", "the queue has ended"))
  }

  private static let opened = Locked<[OpenedQueue]>([])

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
    opened.withLock { opened in
      opened.removeAll { $0.queue == nil }
      for known in opened {
        guard let queue = known.queue, queue.store === store, !queue.isClosed,
          queue.client.identifier.hasSameBytes(as: client.identifier)
        else { continue }
        return queue
      }
      let queue = APIClientQueue(store, client: client, configuration: configuration)
      opened.append(OpenedQueue(queue: queue))
      return queue
    }
  }

  private struct OpenedQueue {
    weak let queue: APIClientQueue?
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
        }
      }
    }
  }

  /// Tries again at once if the queue waits after a failure, or when an attempt that is under way fails.
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
  /// store.
  public func close() async {
    let (ended, worker) = state.withLock { state in
      let ended = state
      state.isClosed = true
      state.reads = [:]
      state.tickets = [:]
      state.pauseTimer = nil
      return (ended, state.worker)
    }
    signal.close()
    worker?.cancel()
    ended.end(with: APIError(.closed, "queue", "the queue was closed"))
    await worker?.value
  }

  /// Returns the requests that wait, in their order, then those that were refused.
  ///
  /// - Returns: The requests that change something, of all clients of the store.
  /// - Throws: ``StoreError`` when they can't be read.
  public func requests() throws -> [QueuedRequest] { try storage.requests() }

  /// Drops a request that waits or was refused; its caller gets `dropped`.
  ///
  /// - Parameter number: The ``QueuedRequest/id`` of the request.
  /// - Returns: Whether there was one.
  /// - Throws: ``StoreError`` when it can't be removed.
  @discardableResult
  public func drop(_ number: UInt64) async throws -> Bool {
    guard let entry = try await storage.remove(number) else { return false }
    finish(
      entry.token, .failure(APIError(.dropped, entry.request, "it was dropped from the queue")))
    signal.set(.progress)
    return true
  }

  /// Puts a refused request at the end of the queue again.
  ///
  /// - Parameter number: The ``QueuedRequest/id`` of the request.
  /// - Returns: Whether there was one.
  /// - Throws: ``StoreError`` when it can't be written.
  @discardableResult
  public func retry(_ number: UInt64) async throws -> Bool {
    guard try await storage.retry(number) != nil else { return false }
    flush()
    return true
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Whether a request that comes now is sent now.
  var isIdle: Bool {
    state.withLock { $0.worker != nil && !$0.isWorking && $0.reads.isEmpty && !$0.isPaused }
  }
}

extension APIClientQueue.State {
  /// Ends all that waits.
  func end(with error: APIError) {
    pauseTimer?.cancel()
    for read in reads.values { read.end(with: .failure(error)) }
    for ticket in tickets.values { ticket.ticket?.finish(.failure(error)) }
  }
}
