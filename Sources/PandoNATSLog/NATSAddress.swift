#if NATS
  import PandoReplication

  /// The address of a server, without secrets.
  struct NATSAddress: Hashable, CustomStringConvertible {
    let host: String
    let port: Int
    let isEncrypted: Bool

    /// Reads an address.
    ///
    /// - Parameter text: The text, for example `nats://127.0.0.1:4222`.
    /// - Throws: ``LogFault`` `unavailable`, whose text contains no secret.
    init(_ text: String) throws(LogFault) {
      var rest = Substring(text)
      var isEncrypted = false
      if let mark = rest.firstRange(of: "://") {
        switch rest[..<mark.lowerBound] {
        case "nats": break
        case "tls": isEncrypted = true
        default: throw .unavailable("an address of a server begins with nats:// or tls://")
        }
        rest = rest[mark.upperBound...]
      }
      if let mark = rest.lastIndex(of: "@") {
        // The text before the mark is secret.
        throw .unavailable(
          "the address of \(rest[rest.index(after: mark)...]) has credentials; give them in a file")
      }
      while rest.last == "/" { rest.removeLast() }
      var port = Self.defaultPort
      let isBare = rest.first == "[" ? rest.last == "]" : !rest.contains(":")
      if !isBare, let mark = rest.lastIndex(of: ":") {
        guard let number = Int(rest[rest.index(after: mark)...]), 1...65535 ~= number else {
          throw .unavailable("the address \(rest) has no port that can be")
        }
        port = number
        rest = rest[..<mark]
      }
      if rest.first == "[", rest.last == "]" { rest = rest.dropFirst().dropLast() }
      guard !rest.isEmpty, !rest.contains(where: { $0.isWhitespace || $0 == "/" }) else {
        throw .unavailable("an address of a server has no host")
      }
      host = String(rest)
      self.port = port
      self.isEncrypted = isEncrypted
    }

    /// Whether the address is on this machine.
    var isLoopback: Bool {
      if host == "localhost" || host == "::1" { return true }
      let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
      return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The address in the form of the library.
    var url: String { "\(isEncrypted ? "tls" : "nats")://\(description)" }

    private static let defaultPort = 4222
  }
#endif
