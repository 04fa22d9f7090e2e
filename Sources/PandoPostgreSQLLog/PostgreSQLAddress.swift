#if PostgreSQL
  import PandoReplication

  /// The address of a server, without secrets.
  struct PostgreSQLAddress: Hashable, CustomStringConvertible {
    /// A host, or the folder of a Unix socket.
    let host: String
    let port: Int

    /// Reads an address.
    ///
    /// - Parameter text: The text, for example `127.0.0.1:5432`.
    /// - Throws: ``LogFault`` `unavailable`, whose text contains no secret.
    init(_ text: String) throws(LogFault) {
      var rest = Substring(text)
      guard !text.contains("@"), !text.contains("://"), !text.contains("=") else {
        // Connection strings contain passwords; the error does not show them.
        throw .unavailable("the address of a server is a host and a port, and no connection string")
      }
      var port = Self.defaultPort
      let isBare =
        switch rest.first {
        case "[": rest.last == "]"
        case "/": !rest.contains(":")
        default: rest.count(where: { $0 == ":" }) != 1
        }
      if !isBare, let mark = rest.lastIndex(of: ":") {
        guard let number = Int(rest[rest.index(after: mark)...]), 1...65535 ~= number else {
          throw .unavailable("the address \(rest) has no port that can be")
        }
        port = number
        rest = rest[..<mark]
      }
      if rest.first == "[", rest.last == "]" { rest = rest.dropFirst().dropLast() }
      guard !rest.isEmpty,
        !rest.contains(where: { $0.isWhitespace || $0 == "," || $0 == "\0" }),
        rest.first == "/" || !rest.contains("/")
      else { throw .unavailable("an address of a server has no host") }
      host = String(rest)
      self.port = port
    }

    var isSocket: Bool { host.hasPrefix("/") }

    /// Whether the address is on this machine.
    var isLocal: Bool {
      if isSocket || host == "localhost" || host == "::1" { return true }
      let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
      return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }

    var description: String {
      host.contains(":") && !isSocket ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static let defaultPort = 5432
  }
#endif
