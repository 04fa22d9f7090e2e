#if PostgreSQL
  import CPandoPostgreSQL

  /// The error of a statement or a connection attempt.
  struct PostgreSQLFailure: Error {
    enum Kind {
      /// The server refused; nothing was done.
      case refused
      /// Nothing was done; a later attempt may succeed.
      case notNow
      /// The statement may have been executed.
      case lost
      /// The log was closed during the call.
      case closed
    }

    let kind: Kind
    /// The server's code of five characters; empty without an answer of the server.
    var code = ""
    /// The error text, without secrets.
    let words: String
    /// The violated constraint.
    var constraint = ""
    /// Whether a server was unreachable, as opposed to refusing the connection.
    var isAway = false

    init(_ kind: Kind, _ words: String, isAway: Bool = false) {
      (self.kind, self.words, self.isAway) = (kind, words, isAway)
    }

    /// Reads an error answer.
    init(_ result: OpaquePointer) {
      func text(_ field: UnsafePointer<CChar>?) -> String {
        unsafe field.map { unsafe String(cString: $0) } ?? ""
      }
      code = unsafe text(pando_pq_code(result))
      constraint = unsafe text(pando_pq_constraint(result))
      let severity = unsafe text(pando_pq_severity(result))
      let words = unsafe text(pando_pq_words(result))
      self.words =
        words.isEmpty ? oneLine(unsafe text(PQresultErrorMessage(result))) : "\(words) (\(code))"
      // A terminated session may have committed before: a crashing server ends all sessions.
      kind = severity != "ERROR" ? .lost : Self.isPassing(code) ? .notNow : .refused
    }

    /// Whether an error is temporary: a conflict, a lock, a lack of resources.
    ///
    /// A statement ended by the statement timeout has waited long enough.
    private static func isPassing(_ code: String) -> Bool {
      ["40", "53", "57"].contains(code.prefix(2)) && code != "57014"
        || ["25006", "55P03", "55006"].contains(code)
    }

    /// Whether this server takes no writes any more, so that another one is needed.
    var isElsewhere: Bool { code == "25006" }
    /// Whether the row exists already.
    var isTwice: Bool { code == "23505" }
  }

  /// Returns the text of libpq in one line.
  func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { line in
      String(line.drop(while: \.isWhitespace))
    }.joined(separator: "; ")
  }
#endif
