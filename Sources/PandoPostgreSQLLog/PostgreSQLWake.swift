#if PostgreSQL
  import CPandoPostgreSQL
  import PandoSystem

  /// What lets go all who wait for a server; it stays so.
  final class PostgreSQLWake: Sendable {
    /// Can be read from then on.
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
