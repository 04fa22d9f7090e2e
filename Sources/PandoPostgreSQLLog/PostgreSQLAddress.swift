#if PostgreSQL
  import PandoReplication

  extension LogAddress {
    /// Reads an address of PostgreSQL, for example `127.0.0.1:5432`.
    ///
    /// - Parameter text: The text.
    /// - Throws: ``LogFault`` `unavailable`, whose text contains no secret.
    init(postgreSQL text: String) throws(LogFault) {
      guard !text.contains("@"), !text.contains("://"), !text.contains("=") else {
        // Connection strings contain passwords; the error does not show them.
        throw .unavailable("the address of a server is a host and a port, and no connection string")
      }
      try self.init(text[...], port: 5432, allowsSockets: true)
    }
  }
#endif
