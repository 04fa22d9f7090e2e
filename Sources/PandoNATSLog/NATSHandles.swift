#if NATS
  import CPandoNATS
  import PandoSystem

  /// The listeners of the library's callbacks, by number.
  ///
  /// Numbers replace references, because the library may call a listener after its end.
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

    /// Returns the listener whose number the pointer contains.
    static func listener(_ closure: UnsafeMutableRawPointer?) -> (any NATSListener)? {
      let handle = UInt(bitPattern: closure)
      return state.withLock { $0.listeners[handle] }
    }
  }

  /// A listener that the library calls on its own threads.
  protocol NATSListener: AnyObject, Sendable {
    /// Receives a message; the caller destroys it afterwards.
    func receive(_ message: OpaquePointer, _ connection: OpaquePointer)
    /// Called after the last message.
    func complete()
    /// Called when the connection has ended.
    func closed()
    /// Called with an error of the server or the library.
    func failed(_ status: natsStatus, _ text: String)
  }

  extension NATSListener {
    func receive(_ message: OpaquePointer, _ connection: OpaquePointer) {}
    func complete() {}
    func closed() {}
    func failed(_ status: natsStatus, _ text: String) {}
  }
#endif
