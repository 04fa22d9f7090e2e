#if NATS
  import CPandoNATS
  import PandoReplication
  import PandoSystem

  /// A push consumer of the stream, and the subscription that receives its messages.
  ///
  /// The caller of ``start(_:_:_:at:of:milliseconds:)`` calls ``end()``.
  @safe
  final class NATSSubscription: NATSListener, @unchecked Sendable {
    // Sendable: one thread reads the properties, all set before the library's first call.
    let connection: NATSConnection
    private let feed: NATSFeed
    /// The number of this subscription in the feed.
    private let generation: UInt64
    private let isComplete = Monitor(false)
    private var handle: UInt = 0
    private var subscription: OpaquePointer?
    private var deletion: String?

    private init(_ connection: NATSConnection, _ feed: NATSFeed, _ generation: UInt64) {
      self.connection = connection
      self.feed = feed
      self.generation = generation
    }

    /// Starts a push consumer.
    ///
    /// - Parameters:
    ///   - connection: An open connection.
    ///   - feed: The receiver of the messages.
    ///   - generation: The number of this subscription in the feed.
    ///   - position: The position of the first message.
    ///   - stream: The stream.
    ///   - milliseconds: The time to wait for the server.
    /// - Returns: The subscription; the feed may have received messages by then.
    /// - Throws: ``LogFailure``.
    static func start(
      _ connection: NATSConnection, _ feed: NATSFeed, _ generation: UInt64, at position: UInt64,
      of stream: String, milliseconds: Int64
    ) throws -> NATSSubscription {
      let made = NATSSubscription(connection, feed, generation)
      do {
        try made.start(at: position, stream, milliseconds)
      } catch {
        made.end()
        throw error
      }
      return made
    }

    private func start(at position: UInt64, _ stream: String, _ milliseconds: Int64) throws {
      var inbox: UnsafeMutablePointer<natsInbox>?
      guard unsafe natsInbox_Create(&inbox) == NATS_OK, let subject = unsafe inbox else {
        throw LogFailure(.refused, "libnats gives no inbox")
      }
      defer { unsafe natsInbox_Destroy(subject) }
      handle = NATSHandles.add(self)
      let closure = unsafe UnsafeMutableRawPointer(bitPattern: handle)
      let status = unsafe natsConnection_Subscribe(
        &subscription, connection.handle, subject,
        { connection, _, message, closure in
          guard let message = unsafe message else { return }
          if let connection = unsafe connection {
            unsafe NATSHandles.listener(closure)?.receive(message, connection)
          }
          unsafe natsMsg_Destroy(message)
        }, closure)
      guard status == NATS_OK, let subscription = unsafe subscription else {
        throw NATSStatus.failure(status, 0)
      }
      unsafe natsSubscription_SetPendingLimits(subscription, -1, Self.pendingByteCount)
      unsafe natsSubscription_SetOnCompleteCB(
        subscription, { closure in unsafe NATSHandles.listener(closure)?.complete() }, closure)
      var name = [CChar](repeating: 0, count: 256)
      var code: CInt = 0
      let pushed = unsafe pando_nats_push(
        connection.context, stream, subject, position, Self.heartbeat, Self.threshold,
        milliseconds, &name, CInt(name.count), &code)
      guard pushed == NATS_OK else { throw NATSStatus.failure(pushed, code) }
      let text = natsText(name)
      if !text.isEmpty { deletion = "$JS.API.CONSUMER.DELETE.\(stream).\(text)" }
    }

    /// Ends the subscription; the feed receives nothing afterwards.
    ///
    /// The library's reader (3.4.1) finds and locks a subscription without retaining it. Destroying
    /// it in between makes the reader hang or crash. So `end` destroys it after its last callback
    /// and one more round trip of the reader, or with the connection.
    func end() {
      if let deletion, connection.isUsable { connection.signal(deletion) }
      if let subscription = unsafe subscription {
        unsafe natsSubscription_Unsubscribe(subscription)
        let deadline = monotonicNanoseconds() + Self.completionWait
        // A lost connection keeps the subscription in any case.
        let isQuiet = isComplete.waiting(until: deadline, checkingEach: Self.completionStep) {
          $0 ? true : connection.isUsable ? nil : false
        }
        if isQuiet == true, connection.makesRoundTrip(milliseconds: Self.roundTripWait) {
          unsafe natsSubscription_Destroy(subscription)
        } else {
          unsafe connection.keep(subscription)
        }
      }
      NATSHandles.remove(handle)
    }

    func complete() {
      isComplete.withLock { $0 = true }
      isComplete.notifyAll()
    }

    func receive(_ message: OpaquePointer, _ connection: OpaquePointer) {
      let reply = unsafe natsMsg_GetReply(message)
      var (position, number): (UInt64, UInt64) = (0, 0)
      if unsafe pando_nats_place(reply, &position, &number) {
        feed.receive(unsafe natsBytes(message), at: position, number: number, generation)
        return
      }
      // A heartbeat, or a flow control request.
      if let reply = unsafe reply, unsafe reply.pointee != 0 {
        answer(unsafe String(cString: reply))
      } else if let stalled = unsafe Self.header("Nats-Consumer-Stalled", of: message) {
        answer(stalled)
      }
      let last = unsafe Self.header("Nats-Last-Consumer", of: message).flatMap { UInt64($0) }
      feed.beat(last: last, generation)
    }

    private func answer(_ subject: String) {
      if feed.takesMore(generation, orAnswerLater: subject, on: connection) {
        connection.signal(subject)
      }
    }

    private static func header(_ name: String, of message: OpaquePointer) -> String? {
      var value: UnsafePointer<CChar>?
      guard unsafe natsMsgHeader_Get(message, name, &value) == NATS_OK else { return nil }
      return unsafe value.map { unsafe String(cString: $0) }
    }

    /// The limit of the library's queue; larger than what the server sends without flow control.
    private static let pendingByteCount: CInt = 128 << 20
    /// In nanoseconds, between heartbeats.
    private static let heartbeat: Int64 = 500_000_000
    /// In nanoseconds, until the server removes a consumer without a subscriber.
    private static let threshold: Int64 = 10_000_000_000
    /// In nanoseconds.
    private static let completionWait: Int64 = 5_000_000_000
    private static let completionStep: Int64 = 50_000_000
    /// In milliseconds.
    private static let roundTripWait: Int64 = 1000
  }

  /// The bytes of a message.
  func natsBytes(_ message: OpaquePointer) -> [UInt8] {
    let count = unsafe Int(natsMsg_GetDataLength(message))
    guard count > 0, let data = unsafe natsMsg_GetData(message) else { return [] }
    // The message is destroyed after this copy.
    return unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
  }
#endif
