#if PostgreSQL
  import CPandoPostgreSQL

  /// Why a statement, or a connection, has failed.
  struct PostgreSQLFailure: Error {
    enum Kind {
      /// The server says no; nothing was done.
      case refused
      /// Nothing was done; it may go at another time.
      case notNow
      /// What was sent may have been done.
      case lost
      /// The log was closed while something was on its way.
      case closed
    }

    let kind: Kind
    /// The server's code of five letters; empty if it has said nothing.
    var code = ""
    /// What is wrong, with nothing secret.
    let words: String
    /// The constraint that keeps a row out.
    var constraint = ""
    /// Whether a server could not be reached, and did not refuse a connection.
    var isAway = false

    init(_ kind: Kind, _ words: String, isAway: Bool = false) {
      (self.kind, self.words, self.isAway) = (kind, words, isAway)
    }

    /// Reads what a server has answered.
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
      // Who is put out may have committed before: a server that crashes tells all of it.
      kind = severity != "ERROR" ? .lost : Self.isPassing(code) ? .notNow : .refused
    }

    /// Whether an error is one of the moment: a conflict, a lock, too few resources.
    ///
    /// A statement that the server has ended has waited long enough.
    private static func isPassing(_ code: String) -> Bool {
      ["40", "53", "57"].contains(code.prefix(2)) && code != "57014"
        || ["25006", "55P03", "55006"].contains(code)
    }

    /// Whether another server has to be looked for: this one takes no writes any more.
    var isElsewhere: Bool { code == "25006" }
    /// Whether a row is there already.
    var isTwice: Bool { code == "23505" }
  }

  /// What libpq says, in one line.
  func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { line in
      String(line.drop(while: \.isWhitespace))
    }.joined(separator: "; ")
  }
#endif
