#if NATS
  import CPandoNATS
  import PandoReplication
  import PandoSystem

  /// A connection of the library, from its start until nobody uses it any more.
  ///
  /// Any thread. The library connects it again by itself when a server goes.
  @safe
  final class NATSConnection: @unchecked Sendable {
    // Sendable because the library locks, and the pointers never change.
    let handle: OpaquePointer
    let context: OpaquePointer
    /// Subscriptions that have ended, and that the reader may be about to lock; as numbers.
    private let kept = Locked<[UInt]>([])

    /// Connects.
    ///
    /// - Parameters:
    ///   - configuration: Where to.
    ///   - addresses: The servers.
    ///   - listener: The number of who hears of what happens to it.
    /// - Throws: ``LogFault`` `unavailable`.
    init(
      _ configuration: NATSLogConfiguration, _ addresses: [NATSAddress], listener: UInt
    ) throws(LogFault) {
      var options: OpaquePointer?
      guard unsafe natsOptions_Create(&options) == NATS_OK, let options = unsafe options else {
        throw .unavailable("libnats gives no options")
      }
      defer { unsafe natsOptions_Destroy(options) }
      try unsafe Self.fill(options, configuration, addresses, listener)
      var handle: OpaquePointer?
      let status = unsafe natsConnection_Connect(&handle, options)
      let names = addresses.map(\.description).joined(separator: ", ")
      guard status == NATS_OK, let handle = unsafe handle else {
        throw .unavailable("no connection to \(names): \(natsText(status))")
      }
      var context: OpaquePointer?
      let made = unsafe natsConnection_JetStream(&context, handle, nil)
      guard made == NATS_OK, let context = unsafe context else {
        unsafe natsConnection_Destroy(handle)
        throw .unavailable("no use of JetStream at \(names): \(natsText(made))")
      }
      unsafe self.handle = handle
      unsafe self.context = context
    }

    deinit {
      // Waits for the reader.
      unsafe natsConnection_Close(handle)
      for address in kept.withLock(\.self) {
        unsafe natsSubscription_Destroy(OpaquePointer(bitPattern: address))
      }
      unsafe jsCtx_Destroy(context)
      unsafe natsConnection_Destroy(handle)
    }

    /// Ends it, and lets calls go that wait.
    func close() { unsafe natsConnection_Close(handle) }

    /// Keeps a subscription until the connection ends.
    func keep(_ subscription: OpaquePointer) {
      kept.withLock { $0.append(UInt(bitPattern: subscription)) }
    }

    /// Whether an answer to a question that is asked now comes.
    func makesRoundTrip(milliseconds: Int64) -> Bool {
      guard isConnected else { return false }
      return unsafe natsConnection_FlushTimeout(handle, milliseconds) == NATS_OK
    }

    var isConnected: Bool { unsafe natsConnection_Status(handle) == NATS_CONN_STATUS_CONNECTED }

    var isClosed: Bool { unsafe natsConnection_IsClosed(handle) }

    /// The largest message that the server takes, in bytes.
    var payloadMaximum: Int { unsafe Int(natsConnection_GetMaxPayload(handle)) }

    /// The server that it is connected to; `nil` if there is none.
    var server: String? {
      var buffer = [CChar](repeating: 0, count: 512)
      guard unsafe natsConnection_GetConnectedUrl(handle, &buffer, buffer.count) == NATS_OK else {
        return nil
      }
      return (try? NATSAddress(natsText(buffer)))?.description
    }

    /// Sends a message without bytes, for which nobody waits.
    func signal(_ subject: String) { unsafe natsConnection_Publish(handle, subject, nil, 0) }

    private static func fill(
      _ options: OpaquePointer, _ configuration: NATSLogConfiguration, _ addresses: [NATSAddress],
      _ listener: UInt
    ) throws(LogFault) {
      func set(_ what: String, _ status: natsStatus) throws(LogFault) {
        guard status == NATS_OK else { throw .unavailable("\(what): \(natsText(status))") }
      }
      let timeout = Int64(max(1, configuration.requestTimeoutInMilliseconds))
      let urls = unsafe addresses.map { unsafe strdup($0.url) }
      defer { unsafe urls.forEach { unsafe free($0) } }
      var pointers = unsafe urls.map { unsafe UnsafePointer($0) }
      unsafe try set("servers", natsOptions_SetServers(options, &pointers, Int32(urls.count)))
      unsafe try set("name", natsOptions_SetName(options, "pando \(configuration.stream)"))
      unsafe try set("timeout", natsOptions_SetTimeout(options, timeout))
      unsafe try set("write deadline", natsOptions_SetWriteDeadline(options, timeout))
      unsafe try set("reconnecting", natsOptions_SetMaxReconnect(options, Int32.max))
      unsafe try set("reconnecting", natsOptions_SetReconnectWait(options, reconnectWait))
      unsafe try set(
        "reconnecting", natsOptions_SetReconnectJitter(options, reconnectWait, reconnectWait))
      // Nothing is kept back for a server that is not there: the caller is told instead.
      unsafe try set("reconnect buffer", natsOptions_SetReconnectBufSize(options, 1))
      unsafe try set("pings", natsOptions_SetPingInterval(options, pingInterval))
      unsafe try set("pings", natsOptions_SetMaxPingsOut(options, 2))
      unsafe try set("sending", natsOptions_SetSendAsap(options, true))
      unsafe try set("requests", natsOptions_SetFailRequestsOnDisconnect(options, true))
      let closure = unsafe UnsafeMutableRawPointer(bitPattern: listener)
      unsafe try set(
        "callbacks",
        natsOptions_SetReconnectedCB(
          options, { _, closure in unsafe NATSHandles.listener(closure)?.reconnected() }, closure))
      unsafe try set(
        "callbacks",
        natsOptions_SetErrorHandler(
          options,
          { connection, _, status, closure in
            var text: UnsafePointer<CChar>?
            if let connection = unsafe connection {
              _ = unsafe natsConnection_GetLastError(connection, &text)
            }
            let words = unsafe text.map { unsafe String(cString: $0) } ?? ""
            unsafe NATSHandles.listener(closure)?.failed(status, words)
          }, closure))
      try unsafe fillSecurity(options, configuration, addresses)
    }

    private static func fillSecurity(
      _ options: OpaquePointer, _ configuration: NATSLogConfiguration, _ addresses: [NATSAddress]
    ) throws(LogFault) {
      func set(_ what: String, _ status: natsStatus) throws(LogFault) {
        guard status == NATS_OK else { throw .unavailable("\(what): \(natsText(status))") }
      }
      let isEncrypted = configuration.tls != nil || addresses.contains(where: \.isEncrypted)
      if isEncrypted {
        let tls = configuration.tls ?? NATSLogConfiguration.TLS()
        unsafe try set("TLS", natsOptions_SetSecure(options, true))
        if let file = tls.authorityFile {
          unsafe try set(
            "certificates in \(file)", natsOptions_LoadCATrustedCertificates(options, file))
        }
        if let file = tls.certificateFile {
          guard let key = tls.keyFile else {
            throw .unavailable("the client certificate in \(file) has no key")
          }
          unsafe try set(
            "client certificate in \(file)", natsOptions_LoadCertificatesChain(options, file, key))
        }
        let hosts = Set(addresses.map(\.host))
        if let name = tls.serverName ?? (hosts.count == 1 ? hosts.first : nil) {
          unsafe try set("name of servers", natsOptions_SetExpectedHostname(options, name))
        }
      } else {
        // Servers that others name may be on other machines.
        unsafe try set("servers", natsOptions_SetIgnoreDiscoveredServers(options, true))
      }
      switch configuration.credentials {
      case .none: break
      case .user(let name, let file):
        guard let password = firstLine(of: file) else {
          throw .unavailable("the password file \(file) can't be read")
        }
        unsafe try set("user", natsOptions_SetUserInfo(options, name, password))
      case .nkey(let key, let file):
        unsafe try set("NKey in \(file)", natsOptions_SetNKeyFromSeed(options, key, file))
      case .credentialsFile(let file):
        unsafe try set(
          "credentials in \(file)", natsOptions_SetUserCredentialsFromFiles(options, file, nil))
      }
    }

    /// In milliseconds, for one server; as much again by chance.
    private static let reconnectWait: Int64 = 250
    /// In milliseconds: a server that stands still is left after the third.
    private static let pingInterval: Int64 = 1000
  }

  /// What a status of the library says, with the words that it has kept for this thread.
  func natsText(_ status: natsStatus) -> String {
    let name =
      unsafe natsStatus_GetText(status).map { unsafe String(cString: $0) } ?? "\(status.rawValue)"
    var last = NATS_OK
    guard let words = unsafe nats_GetLastError(&last), last == status else { return name }
    let text = unsafe String(cString: words)
    return text.isEmpty || text == name ? name : "\(name) (\(text))"
  }

  /// The text in a buffer that ends with a zero.
  func natsText(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
#endif
