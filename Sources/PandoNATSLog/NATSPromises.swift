#if NATS
  import PandoReplication
  import PandoSystem

  /// The settings that servers report, and the guarantees that their acknowledgements lack.
  struct NATSPromises {
    /// The report of a server.
    struct Server {
      /// The name in errors.
      let name: String
      /// The version; `nil` if the server did not report it.
      let version: [Int]?
    }

    /// Whether a server flushes messages before it acknowledges them.
    struct Monitor {
      let name: String
      /// `nil` if the server did not report it.
      let flushesAlways: Bool?
    }

    var servers: [Server]
    /// The servers whose monitoring address is configured.
    var monitors: [Monitor]
    /// The number of servers that store the stream.
    var replicas: Int64
    var stream: String

    /// The missing guarantees, one sentence each.
    var warnings: [String] {
      var warnings: [String] = []
      for server in servers {
        guard let version = server.version else {
          warnings.append("\(server.name) does not name its version of nats-server")
          continue
        }
        let text = version.map { "\($0)" }.joined(separator: ".")
        if version.lexicographicallyPrecedes(Self.leastVersion) {
          warnings.append(
            "\(server.name) is nats-server \(text), which loses acknowledged writes when most servers stop or "
              + "lose power; use 2.10.23 or later")
        } else if !version.lexicographicallyPrecedes(Self.unknownVersion) {
          warnings.append(
            "\(server.name) is nats-server \(text): this program does not know the meaning of sync_interval from 2.15 on"
          )
        }
      }
      if replicas < 2 {
        warnings.append("the stream \(stream) is kept on one server, and is lost with it")
      }
      for monitor in monitors where monitor.flushesAlways != true {
        warnings.append(
          monitor.flushesAlways == nil
            ? "\(monitor.name) does not say whether it flushes before it acknowledges"
            : "\(monitor.name) acknowledges messages that are not on its disk yet; set sync_interval to always"
        )
      }
      if monitors.count < servers.count {
        warnings.append(
          "it is not known whether all servers flush before they acknowledge: configure the addresses of their monitoring"
        )
      }
      return warnings
    }

    /// Reads the version from the JSON that a server sends.
    static func version(in text: String) -> [Int]? {
      let text = text.filter { !$0.isWhitespace }
      guard let start = text.firstRange(of: #""version":""#),
        let end = text[start.upperBound...].firstIndex(of: "\"")
      else { return nil }
      let release = text[start.upperBound..<end].prefix { $0 != "-" }
      let parts = release.split(separator: ".").map { Int($0) }
      guard parts.count == 3, !parts.contains(nil) else { return nil }
      return parts.compactMap(\.self)
    }

    /// Reads from the monitoring page `/varz` whether each message is flushed.
    static func flushesAlways(in text: String) -> Bool? {
      let text = text.filter { !$0.isWhitespace }
      guard text.contains(#""store_dir":"#) else { return nil }
      return text.contains(#""sync_always":true"#)
    }

    private static let leastVersion = [2, 10, 23]
    private static let unknownVersion = [2, 15, 0]
  }

  extension NATSPromises {
    /// Queries the servers; each has one second to answer.
    init(
      _ configuration: NATSLogConfiguration, _ addresses: [LogAddress], replicas: Int64
    ) {
      servers = addresses.map { address in
        // A server sends its description first, even if it then requires TLS.
        let text = NATSProbe.answer(of: address.host, address.port, to: "", endsAtLine: true)
        return Server(name: address.description, version: text.flatMap(Self.version))
      }
      monitors = configuration.monitors.map { text in
        guard let address = NATSProbe.address(ofMonitor: text) else {
          return Monitor(name: "a monitoring that has no address", flushesAlways: nil)
        }
        let answer = NATSProbe.answer(
          of: address.host, address.port,
          to: "GET /varz HTTP/1.0\r\nHost: \(address)\r\nConnection: close\r\n\r\n",
          endsAtLine: false)
        return Monitor(
          name: address.description, flushesAlways: answer.flatMap(Self.flushesAlways))
      }
      self.replicas = replicas
      stream = configuration.stream
    }
  }

  /// A request over plain TCP.
  enum NATSProbe {
    /// Reads a monitoring address such as `http://10.0.0.1:8222`; `nil` if it is not valid.
    static func address(ofMonitor text: String) -> LogAddress? {
      guard text.hasPrefix("http://") else { return nil }
      return try? LogAddress(nats: "nats://" + text.dropFirst("http://".count))
    }

    /// Sends a request and returns the answer.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - port: The port.
    ///   - request: The text to send.
    ///   - endsAtLine: Whether the answer is one line; otherwise it ends with the connection.
    /// - Returns: The answer; `nil` if it is incomplete after a second, or too long.
    static func answer(
      of host: String, _ port: Int, to request: String, endsAtLine: Bool
    ) -> String? {
      let deadline = monotonicNanoseconds() + wait
      let found = boundedCall(until: deadline) { () -> String? in
        guard let descriptor = connect(host, port) else { return nil }
        defer { close(descriptor) }
        let sent = Array(request.utf8)
        let count = unsafe sent.withUnsafeBytes { bytes in
          unsafe send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        }
        guard count == sent.count else { return nil }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < byteCountMaximum, monotonicNanoseconds() < deadline {
          let count = unsafe part.withUnsafeMutableBytes { buffer in
            unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
          }
          if count < 0 { return nil }
          bytes += part.prefix(count)
          if count == 0 || endsAtLine && bytes.last == UInt8(ascii: "\n") {
            return String(decoding: bytes, as: UTF8.self)
          }
        }
        return nil
      }
      return found ?? nil
    }

    private static func connect(_ host: String, _ port: Int) -> CInt? {
      var hints = unsafe addrinfo()
      unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
      var list: UnsafeMutablePointer<addrinfo>?
      guard unsafe getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return nil }
      defer { unsafe freeaddrinfo(list) }
      var next = unsafe list
      while let found = unsafe next {
        let info = unsafe found.pointee
        let descriptor = unsafe socket(info.ai_family, info.ai_socktype, info.ai_protocol)
        if descriptor >= 0 {
          // The system measures these timeouts by a monotonic clock.
          var second = timeval(tv_sec: 1, tv_usec: 0)
          let size = socklen_t(MemoryLayout<timeval>.size)
          for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            unsafe setsockopt(descriptor, SOL_SOCKET, option, &second, size)
          }
          if unsafe PandoSystem.connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 {
            return descriptor
          }
          close(descriptor)
        }
        unsafe next = info.ai_next
      }
      return nil
    }

    /// In nanoseconds.
    private static let wait: Int64 = 1_000_000_000
    private static let byteCountMaximum = 1 << 20
  }
#endif
