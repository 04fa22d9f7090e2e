#if NATS
  import CPandoNATS
  import PandoSystem

  /// Who is meant by the numbers that callbacks of the library bring.
  ///
  /// Numbers in place of references: the library may call once more for what has just ended.
  enum NATSHandles {
    private struct State {
      var last: UInt = 0
      var listeners: [UInt: any NATSListener] = [:]
    }

    private static let state = Locked(State())

    static func add(_ listener: any NATSListener) -> UInt {
      state.withLock { state in
        state.last += 1
        state.listeners[state.last] = listener
        return state.last
      }
    }

    static func remove(_ handle: UInt) { state.withLock { $0.listeners[handle] = nil } }

    /// Whose number a pointer is in truth.
    static func listener(_ closure: UnsafeMutableRawPointer?) -> (any NATSListener)? {
      let handle = UInt(bitPattern: closure)
      return state.withLock { $0.listeners[handle] }
    }
  }

  /// Somebody whom the library calls, on its own threads.
  protocol NATSListener: AnyObject, Sendable {
    /// A message has come; it is destroyed afterwards.
    func receive(_ message: OpaquePointer, _ connection: OpaquePointer)
    /// No more messages come.
    func complete()
    /// The connection is no more.
    func closed()
    /// The server, or the library, complains.
    func failed(_ status: natsStatus, _ text: String)
  }

  extension NATSListener {
    func receive(_ message: OpaquePointer, _ connection: OpaquePointer) {}
    func complete() {}
    func closed() {}
    func failed(_ status: natsStatus, _ text: String) {}
  }
#endif
