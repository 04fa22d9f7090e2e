#if NATS
  import CPandoNATS

  /// What statuses of the library, and codes of JetStream, mean; nothing else compares them.
  enum NATSStatus {
    /// Whether a call that changes nothing may go at another time.
    static func isPassing(_ status: natsStatus, _ code: CInt) -> Bool {
      // The library adds a code of its own, as if there were no JetStream: there is no leader at present.
      if status == NATS_NO_RESPONDERS { return true }
      if code != 0 { return isWithoutLeader(code) }
      return [
        NATS_TIMEOUT, NATS_NO_RESPONDERS, NATS_CONNECTION_DISCONNECTED, NATS_CONNECTION_CLOSED,
        NATS_IO_ERROR, NATS_STALE_CONNECTION, NATS_INSUFFICIENT_BUFFER,
      ].contains(status)
    }

    /// What a failed append has come to.
    enum Append {
      /// Nothing was done, and it may go at another time.
      case notNow
      case refused
      case endsElsewhere
      case unknown
    }

    static func append(_ status: natsStatus, _ code: CInt) -> Append {
      if status == NATS_NO_RESPONDERS { return .notNow }
      if code == CInt(JSStreamWrongLastSequenceErr.rawValue) { return .endsElsewhere }
      // Some of the servers may have stored it.
      if code == CInt(JSStreamStoreFailedErr.rawValue) { return .unknown }
      if code != 0 { return isWithoutLeader(code) ? .notNow : .refused }
      switch status {
      case NATS_NO_RESPONDERS, NATS_INSUFFICIENT_BUFFER: return .notNow
      case NATS_MAX_PAYLOAD, NATS_INVALID_SUBJECT, NATS_INVALID_ARG, NATS_NO_MEMORY: return .refused
      default: return .unknown
      }
    }

    /// Whether servers could not be reached, and did not refuse a connection.
    ///
    /// - Parameters:
    ///   - status: How the attempt ended.
    ///   - isEncrypted: Whether a connection that was cut may be one that was refused: over TLS a server tells its reasons
    ///     to itself.
    /// - Returns: Whether they may be there at another time.
    static func isAway(_ status: natsStatus, isEncrypted: Bool) -> Bool {
      switch status {
      case NATS_NO_SERVER, NATS_TIMEOUT: true
      case NATS_IO_ERROR, NATS_CONNECTION_CLOSED, NATS_CONNECTION_DISCONNECTED,
        NATS_STALE_CONNECTION:
        !isEncrypted
      default: false
      }
    }

    /// Whether a stream or message is not there.
    static func isAbsent(_ status: natsStatus, _ code: CInt) -> Bool {
      code == CInt(JSStreamNotFoundErr.rawValue) || code == CInt(JSNoMessageFoundErr.rawValue)
        || code == 0 && status == NATS_NOT_FOUND
    }

    /// Whether a stream of the name is there already.
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
