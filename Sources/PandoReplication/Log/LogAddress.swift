/// The address of a server of a log, without secrets.
package struct LogAddress: Hashable, CustomStringConvertible {
  /// A host, or the folder of a Unix socket.
  package let host: String
  package let port: Int
  /// Whether the address itself requires encryption.
  package var isEncrypted = false

  /// Reads an address.
  ///
  /// - Parameters:
  ///   - text: A host or, if allowed, the folder of a Unix socket, with or without a port; without secrets, because
  ///     errors show it.
  ///   - defaultPort: The port, if the text has none.
  ///   - allowsSockets: Whether it may be a folder.
  /// - Throws: ``LogFault`` `unavailable`.
  package init(
    _ text: Substring, port defaultPort: Int, allowsSockets: Bool = false
  ) throws(LogFault) {
    var (rest, port) = (text, defaultPort)
    let isBare =
      switch rest.first {
      case "[": rest.last == "]"
      case "/": !rest.contains(":")
      default: rest.count(where: { $0 == ":" }) != 1
      }
    if !isBare, let mark = rest.lastIndex(of: ":") {
      guard let number = Int(rest[rest.index(after: mark)...]), 1...65535 ~= number else {
        throw .unavailable("the address \(rest) has no valid port")
      }
      port = number
      rest = rest[..<mark]
    }
    if rest.first == "[", rest.last == "]" { rest = rest.dropFirst().dropLast() }
    guard !rest.isEmpty, !rest.contains(where: { $0.isWhitespace || $0 == "," || $0 == "\0" }),
      !rest.contains("/") || allowsSockets && rest.first == "/"
    else { throw .unavailable("an address of a server has no host") }
    (host, self.port) = (String(rest), port)
  }

  package var isSocket: Bool { host.hasPrefix("/") }

  /// Whether the address is on this machine.
  package var isLocal: Bool {
    if isSocket || host == "localhost" || host == "::1" { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }

  package var description: String {
    host.contains(":") && !isSocket ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

extension LogAddress {
  /// Reads the addresses of a configuration.
  ///
  /// - Parameters:
  ///   - texts: The addresses.
  ///   - read: Reads one.
  /// - Returns: The addresses, at least one.
  /// - Throws: ``LogFault`` `unavailable`, also if there is none.
  package static func all(
    _ texts: [String], _ read: (String) throws(LogFault) -> LogAddress
  ) throws(LogFault) -> [LogAddress] {
    guard !texts.isEmpty else { throw .unavailable("the configuration has no server") }
    return try texts.map(read)
  }

  /// The addresses of a configuration in its description, without secrets.
  package static func names(
    _ texts: [String], _ read: (String) throws(LogFault) -> LogAddress
  ) -> String {
    texts.map { text in
      (try? read(text)).map { "\($0)" } ?? "an invalid address"
    }.joined(separator: ", ")
  }
}
