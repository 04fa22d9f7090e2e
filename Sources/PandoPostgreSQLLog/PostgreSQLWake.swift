#if PostgreSQL
  import CPandoPostgreSQL
  import PandoSystem

  /// Wakes all calls that wait for a server; it stays signaled.
  final class PostgreSQLWake: Sendable {
    /// The descriptor, readable once signaled.
    let descriptor: CInt

    init() {
      descriptor = pando_pq_event()
      precondition(descriptor >= 0, "eventfd: error \(errno)")
    }

    deinit { close(descriptor) }

    func signal() {
      var one: UInt64 = 1
      _ = unsafe write(descriptor, &one, 8)
    }
  }
#endif
