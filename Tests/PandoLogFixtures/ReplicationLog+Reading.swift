public import PandoReplication

extension ReplicationLog {
  /// Appends until the log has it.
  public func appendSurely(_ bytes: [UInt8], named name: String) throws -> UInt64 {
    while true {
      do {
        return try append(bytes, named: name, expecting: nil)
      } catch LogFault.noAnswer {
      } catch LogFault.unavailable {
      }
    }
  }

  /// All messages behind a position.
  public func all(after position: UInt64 = 0, limit: Int = 1000) throws -> [LoggedMessage] {
    var all: [LoggedMessage] = []
    while true {
      let messages = try messages(after: all.last?.position ?? position, limit: limit)
      if messages.isEmpty { return all }
      all += messages
    }
  }

  /// Puts a copy of these parts beside the log.
  public func put(_ parts: [[UInt8]], at position: UInt64) throws {
    var rest = parts[...]
    try putSnapshot(at: position) { rest.popFirst() }
  }

  /// The newest copy, in one piece.
  public func newestCopy() throws -> (position: UInt64, bytes: [UInt8])? {
    var bytes: [UInt8] = []
    return try readSnapshot { bytes += $0 }.map { ($0, bytes) }
  }
}

/// The words of a fault that says that the log can't be reached.
public func unavailable(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch LogFault.unavailable(let words) {
    return words
  } catch {
    return nil
  }
}

/// A text as the bytes of a message.
public func bytes(_ text: some CustomStringConvertible) -> [UInt8] { Array("\(text)".utf8) }
