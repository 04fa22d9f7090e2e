#if NATS
  import CPandoNATS
  import PandoReplication

  /// The meaning of the library's statuses and JetStream's codes; no other code compares them.
  enum NATSStatus {
    /// Whether a failed call that changes nothing may succeed later.
    static func isPassing(_ status: natsStatus, _ code: CInt) -> Bool {
      // The library adds a code that means no JetStream; in fact there is no leader at present.
      if status == NATS_NO_RESPONDERS { return true }
      if code != 0 { return isWithoutLeader(code) }
      return [
        NATS_TIMEOUT, NATS_NO_RESPONDERS, NATS_CONNECTION_DISCONNECTED, NATS_CONNECTION_CLOSED,
        NATS_IO_ERROR, NATS_STALE_CONNECTION, NATS_INSUFFICIENT_BUFFER,
      ].contains(status)
    }

    /// The error of a failed call that changes nothing; on the thread of the call.
    static func failure(_ status: natsStatus, _ code: CInt) -> LogFailure {
      LogFailure(
        isPassing(status, code) ? .notNow : .refused, natsText(status),
        isAway: status == NATS_TIMEOUT)
    }

    /// Whether the log ends at another position than an append expects.
    static func endsElsewhere(_ code: CInt) -> Bool {
      code == CInt(JSStreamWrongLastSequenceErr.rawValue)
    }

    /// The outcome of an append that failed otherwise.
    static func append(_ status: natsStatus, _ code: CInt) -> LogFailure.Kind {
      if status == NATS_NO_RESPONDERS { return .notNow }
      // Some of the servers may have stored the message.
      if code == CInt(JSStreamStoreFailedErr.rawValue) { return .lost }
      if code != 0 { return isWithoutLeader(code) ? .notNow : .refused }
      switch status {
      case NATS_INSUFFICIENT_BUFFER: return .notNow
      case NATS_MAX_PAYLOAD, NATS_INVALID_SUBJECT, NATS_INVALID_ARG, NATS_NO_MEMORY: return .refused
      default: return .lost
      }
    }

    /// Whether servers were unreachable, as opposed to refusing the connection.
    ///
    /// - Parameters:
    ///   - status: The status of the attempt.
    ///   - isEncrypted: Whether TLS is in use. Then a cut connection may be a refused one, because
    ///     the server does not send its reason.
    /// - Returns: Whether a later attempt may succeed.
    static func isAway(_ status: natsStatus, isEncrypted: Bool) -> Bool {
      switch status {
      case NATS_NO_SERVER, NATS_TIMEOUT: true
      case NATS_IO_ERROR, NATS_CONNECTION_CLOSED, NATS_CONNECTION_DISCONNECTED,
        NATS_STALE_CONNECTION:
        !isEncrypted
      default: false
      }
    }

    /// Whether a stream or message does not exist.
    static func isAbsent(_ status: natsStatus, _ code: CInt) -> Bool {
      code == CInt(JSStreamNotFoundErr.rawValue) || code == CInt(JSNoMessageFoundErr.rawValue)
        || code == 0 && status == NATS_NOT_FOUND
    }

    /// Whether a stream of that name exists already.
    static func isTaken(_ code: CInt) -> Bool { code == CInt(JSStreamNameExistErr.rawValue) }

    private static func isWithoutLeader(_ code: CInt) -> Bool {
      [
        JSClusterNotAvailErr.rawValue,
        JSClusterNotLeaderErr.rawValue,
        JSClusterNotActiveErr.rawValue,
        JSClusterIncompleteErr.rawValue,
        JSStreamOfflineErr.rawValue,
        JSInsufficientResourcesErr.rawValue,
        JSClusterNoPeersErr.rawValue,
      ].contains(UInt32(bitPattern: code))
    }
  }
#endif
