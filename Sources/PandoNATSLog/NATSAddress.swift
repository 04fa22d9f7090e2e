#if NATS
  import PandoReplication

  extension LogAddress {
    /// Reads an address of NATS, for example `nats://127.0.0.1:4222`.
    ///
    /// - Parameter text: The text.
    /// - Throws: ``LogFault`` `unavailable`, whose text contains no secret.
    init(nats text: String) throws(LogFault) {
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
      try self.init(rest, port: 4222)
      self.isEncrypted = isEncrypted
    }

    /// The address in the form of the library.
    var url: String { "\(isEncrypted ? "tls" : "nats")://\(description)" }
  }
#endif
