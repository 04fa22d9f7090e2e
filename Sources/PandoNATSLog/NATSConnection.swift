#if NATS
  import CPandoNATS
  import PandoReplication
  import PandoSystem

  /// A connection of the library, from its start to its last use.
  ///
  /// Any thread. It never reconnects: the library would time its attempts by the wall clock.
  @safe
  final class NATSConnection: LogConnection, @unchecked Sendable {
    // Sendable because the library locks, and the pointers never change.
    let handle: OpaquePointer
    let context: OpaquePointer
    /// The maximum message size of the server, in bytes.
    let payloadMaximum: Int
    /// The connected server.
    let server: String
    private let watch: Watch
    private let number: UInt
    /// Ended subscriptions that the reader may be about to lock, as numbers.
    private let kept = Locked<[UInt]>([])

    /// Receives the events of a connection; some may arrive after its end.
    private final class Watch: NATSListener {
      let isLost = Locked(false)
      private let owner: any NATSConnectionOwner

      init(_ owner: any NATSConnectionOwner) { self.owner = owner }

      func closed() {
        if isLost.withLock({ exchange(&$0, with: true) }) { return }
        owner.connectionWasLost()
      }

      func failed(_ status: natsStatus, _ text: String) { owner.connectionFailed(status, text) }
    }

    /// Connects.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the log.
    ///   - addresses: The servers, in the order of the attempts.
    ///   - owner: Receives the events of the connection.
    /// - Throws: ``LogFailure``.
    init(
      _ configuration: NATSLogConfiguration, _ addresses: [LogAddress],
      _ owner: any NATSConnectionOwner
    ) throws {
      var options: OpaquePointer?
      guard unsafe natsOptions_Create(&options) == NATS_OK, let options = unsafe options else {
        throw LogFailure(.refused, "libnats gives no options")
      }
      defer { unsafe natsOptions_Destroy(options) }
      watch = Watch(owner)
      number = NATSHandles.add(watch)
      do {
        try unsafe Self.fill(options, configuration, addresses, number)
        (unsafe handle, unsafe context) = try unsafe Self.connect(
          options, addresses, isEncrypted: configuration.tls != nil)
      } catch {
        NATSHandles.remove(number)
        throw error
      }
      payloadMaximum = unsafe Int(natsConnection_GetMaxPayload(handle))
      var buffer = [CChar](repeating: 0, count: 512)
      let status = unsafe natsConnection_GetConnectedUrl(handle, &buffer, buffer.count)
      let address = status == NATS_OK ? try? LogAddress(nats: natsText(buffer)) : nil
      server = address?.description ?? "a server"
    }

    deinit {
      NATSHandles.remove(number)
      let (handle, context) = unsafe (UInt(bitPattern: handle), UInt(bitPattern: context))
      let kept = kept.withLock(\.self)
      // The close waits for the reader, and this may be the reader's thread.
      SharedThreads.runSomewhere {
        unsafe natsConnection_Close(OpaquePointer(bitPattern: handle))
        for address in kept { unsafe natsSubscription_Destroy(OpaquePointer(bitPattern: address)) }
        unsafe jsCtx_Destroy(OpaquePointer(bitPattern: context))
        unsafe natsConnection_Destroy(OpaquePointer(bitPattern: handle))
      }
    }

    private static func connect(
      _ options: OpaquePointer, _ addresses: [LogAddress], isEncrypted: Bool
    ) throws(LogFailure) -> (OpaquePointer, OpaquePointer) {
      var handle: OpaquePointer?
      let status = unsafe natsConnection_Connect(&handle, options)
      let names = addresses.map(\.description).joined(separator: ", ")
      guard status == NATS_OK, let handle = unsafe handle else {
        throw LogFailure(
          .notNow, "no connection to \(names): \(natsText(status))",
          isAway: NATSStatus.isAway(status, isEncrypted: isEncrypted))
      }
      var context: OpaquePointer?
      let made = unsafe natsConnection_JetStream(&context, handle, nil)
      guard made == NATS_OK, let context = unsafe context else {
        unsafe natsConnection_Destroy(handle)
        throw LogFailure(.refused, "no use of JetStream at \(names): \(natsText(made))")
      }
      return unsafe (handle, context)
    }

    /// Ends the connection and wakes waiting calls.
    ///
    /// - Parameter deadline: The end of the wait.
    func close(until deadline: Int64 = 0) {
      watch.closed()
      _ = boundedCall(until: deadline) { [self] in unsafe natsConnection_Close(handle) }
    }

    /// Keeps a subscription until the connection ends.
    func keep(_ subscription: OpaquePointer) {
      kept.withLock { $0.append(UInt(bitPattern: subscription)) }
    }

    /// Whether the server answers a request sent now.
    func makesRoundTrip(milliseconds: Int64) -> Bool {
      guard isUsable else { return false }
      let deadline = monotonicNanoseconds() + milliseconds * 1_000_000
      let status = boundedCall(until: deadline) { [self] in
        unsafe natsConnection_FlushTimeout(handle, milliseconds)
      }
      return status == NATS_OK
    }

    /// Whether the connection is not lost; the library, which may hold its lock, is not called.
    var isUsable: Bool { !watch.isLost.withLock(\.self) }

    /// Sends an empty message without waiting for an answer.
    func signal(_ subject: String) { unsafe natsConnection_Publish(handle, subject, nil, 0) }

    private static func set(_ what: String, _ status: natsStatus) throws(LogFailure) {
      guard status == NATS_OK else {
        throw LogFailure(.refused, "\(what): \(natsText(status))")
      }
    }

    private static func fill(
      _ options: OpaquePointer, _ configuration: NATSLogConfiguration, _ addresses: [LogAddress],
      _ listener: UInt
    ) throws(LogFailure) {
      let timeout = min(
        Int64(max(1, configuration.requestTimeoutInMilliseconds)), NATSLink.connectWait)
      let urls = unsafe addresses.map { unsafe strdup($0.url) }
      defer { unsafe urls.forEach { unsafe free($0) } }
      var pointers = unsafe urls.map { unsafe UnsafePointer($0) }
      unsafe try set("servers", natsOptions_SetServers(options, &pointers, Int32(urls.count)))
      unsafe try set("name", natsOptions_SetName(options, "pando \(configuration.stream)"))
      unsafe try set("timeout", natsOptions_SetTimeout(options, timeout))
      unsafe try set("write deadline", natsOptions_SetWriteDeadline(options, timeout))
      unsafe try set("order", natsOptions_SetNoRandomize(options, true))
      unsafe try set("reconnecting", natsOptions_SetAllowReconnect(options, false))
      unsafe try set("pings", natsOptions_SetPingInterval(options, pingInterval))
      unsafe try set("pings", natsOptions_SetMaxPingsOut(options, 2))
      unsafe try set("sending", natsOptions_SetSendAsap(options, true))
      unsafe try set("requests", natsOptions_SetFailRequestsOnDisconnect(options, true))
      let closure = unsafe UnsafeMutableRawPointer(bitPattern: listener)
      unsafe try set(
        "callbacks",
        natsOptions_SetClosedCB(
          options, { _, closure in unsafe NATSHandles.listener(closure)?.closed() }, closure))
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
      _ options: OpaquePointer, _ configuration: NATSLogConfiguration, _ addresses: [LogAddress]
    ) throws(LogFailure) {
      let isEncrypted = configuration.tls != nil || addresses.contains(where: \.isEncrypted)
      if isEncrypted {
        let tls = configuration.tls ?? LogTLS()
        unsafe try set("TLS", natsOptions_SetSecure(options, true))
        if let file = tls.authorityFile {
          unsafe try set(
            "certificates in \(file)", natsOptions_LoadCATrustedCertificates(options, file))
        }
        if let (file, key) = try tls.clientFiles() {
          unsafe try set(
            "client certificate in \(file)", natsOptions_LoadCertificatesChain(options, file, key))
        }
        let hosts = Set(addresses.map(\.host))
        if let name = tls.serverName ?? (hosts.count == 1 ? hosts.first : nil) {
          unsafe try set("name of servers", natsOptions_SetExpectedHostname(options, name))
        }
      } else {
        // Servers discovered through others may be on other machines.
        unsafe try set("servers", natsOptions_SetIgnoreDiscoveredServers(options, true))
      }
      switch configuration.credentials {
      case .none: break
      case .user(let name, let file):
        let password = try LogFailure.password(in: file)
        unsafe try set("user", natsOptions_SetUserInfo(options, name, password))
      case .nkey(let key, let file):
        unsafe try set("NKey in \(file)", natsOptions_SetNKeyFromSeed(options, key, file))
      case .credentialsFile(let file):
        unsafe try set(
          "credentials in \(file)", natsOptions_SetUserCredentialsFromFiles(options, file, nil))
      }
    }

    /// In milliseconds: the connection to a hanging server ends after the third ping.
    private static let pingInterval: Int64 = 1000
  }

  /// The owner of connections, called by the library's threads.
  protocol NATSConnectionOwner: AnyObject, Sendable {
    /// Called when a connection has ended.
    func connectionWasLost()
    /// Called with an error of the server or the library.
    func connectionFailed(_ status: natsStatus, _ text: String)
  }

  /// Returns the text of a status, with the library's last error text of this thread.
  func natsText(_ status: natsStatus) -> String {
    let name =
      unsafe natsStatus_GetText(status).map { unsafe String(cString: $0) } ?? "\(status.rawValue)"
    var last = NATS_OK
    guard let words = unsafe nats_GetLastError(&last), last == status else { return name }
    let text = unsafe String(cString: words)
    return text.isEmpty || text == name ? name : "\(name) (\(text))"
  }

  /// Returns the text of a zero-terminated buffer.
  func natsText(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
#endif
