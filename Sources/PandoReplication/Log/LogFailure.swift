import PandoSystem

/// The error of a call to a server of a log, or of an attempt to connect.
package struct LogFailure: Error {
  package enum Kind: Sendable {
    /// The server refused; nothing was done.
    case refused
    /// Nothing was done; a later attempt may succeed.
    case notNow
    /// The call may have been executed.
    case lost
    /// The log was closed during the call.
    case closed
  }

  package let kind: Kind
  /// The error text, without secrets.
  package let reason: String
  /// Whether no server answered, as opposed to one that refused.
  package var isAway: Bool
  /// The code of the server's error; empty without an answer of the server.
  package var code = ""
  /// The constraint of the server that the call violated.
  package var constraint = ""

  package init(_ kind: Kind, _ reason: String, isAway: Bool = false) {
    (self.kind, self.reason, self.isAway) = (kind, reason, isAway)
  }

  /// Reads the password of a connection.
  ///
  /// - Parameter file: A file whose first line it is.
  /// - Returns: The password.
  /// - Throws: `refused` if the file can't be read.
  package static func password(in file: String) throws(LogFailure) -> String {
    guard let password = firstLine(of: file) else {
      throw LogFailure(.refused, "the password file \(file) can't be read")
    }
    return password
  }
}

/// A pause between attempts, which doubles with each failure.
package struct LogPause: Sendable {
  private let minimum: Int64
  private let maximum: Int64
  private var present: Int64

  /// Begins with the shortest pause.
  ///
  /// - Parameters:
  ///   - minimum: The shortest pause, in nanoseconds.
  ///   - maximum: The longest one.
  package init(_ minimum: Int64, upTo maximum: Int64) {
    (self.minimum, self.maximum, present) = (minimum, maximum, minimum)
  }

  /// The pause after a failure, in nanoseconds.
  package mutating func next() -> Int64 {
    defer { present = min(present * 2, maximum) }
    return present
  }

  /// Begins with the shortest pause again, after a success.
  package mutating func reset() { present = minimum }
}
