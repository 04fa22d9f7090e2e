#if PostgreSQL
  import CPandoPostgreSQL
  import PandoReplication

  extension LogFailure {
    /// Reads an error answer.
    init(_ result: OpaquePointer) {
      func text(_ field: UnsafePointer<CChar>?) -> String {
        unsafe field.map { unsafe String(cString: $0) } ?? ""
      }
      let code = unsafe text(pando_pq_code(result))
      let severity = unsafe text(pando_pq_severity(result))
      let words = unsafe text(pando_pq_words(result))
      // A terminated session may have committed before: a crashing server ends all sessions.
      self.init(
        severity != "ERROR" ? .lost : Self.isPassing(code) ? .notNow : .refused,
        words.isEmpty ? oneLine(unsafe text(PQresultErrorMessage(result))) : "\(words) (\(code))")
      self.code = code
      constraint = unsafe text(pando_pq_constraint(result))
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
