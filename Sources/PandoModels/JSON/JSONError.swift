/// Why a text is not JSON, or not JSON that can be kept exactly, and where.
public struct JSONError: Error, Hashable, Sendable {
  /// The line, from 1; lines end with LF, CR LF or CR.
  public var line: Int

  /// The column, from 1, in Unicode scalars.
  public var column: Int

  /// What was found there and what was expected.
  public var reason: String

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - line: The line, from 1.
  ///   - column: The column, from 1, in Unicode scalars.
  ///   - reason: What was found there and what was expected.
  public init(line: Int, column: Int, reason: String) {
    self.line = line
    self.column = column
    self.reason = reason
  }

  /// Finds line and column of a byte.
  init(reason: String, at position: Int, in bytes: Span<UInt8>) {
    var line = 1
    var column = 1
    for index in 0..<min(position, bytes.count) {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\n") {
        // The second half of CR LF: the line was counted already.
        if index == 0 || bytes[index - 1] != UInt8(ascii: "\r") { line += 1 }
        column = 1
      } else if byte == UInt8(ascii: "\r") {
        line += 1
        column = 1
      } else if byte & 0xc0 != 0x80 {
        column += 1
      }
    }
    self.init(line: line, column: column, reason: reason)
  }
}

extension JSONError: CustomStringConvertible {
  /// Line, column and reason in one line.
  public var description: String { "line \(line), column \(column): \(reason)" }
}
