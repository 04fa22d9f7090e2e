/// Makes requests out of the bytes of a connection (RFC 9112), however they are cut into pieces.
///
/// What it does not know it refuses: a request that two readers could understand in two ways is
/// understood in none.
struct HTTPParser {
  /// Request line and header fields; what a client on the same machine sends is far smaller.
  static let headByteCountMaximum = 16 << 10
  /// The content; a push of ten thousand people.
  static let bodyByteCountMaximum = 1 << 20

  private var buffer: [UInt8] = []
  /// How much of the buffer has been searched for the end of the head.
  private var searchedCount = 0
  private var head: HTTPHead?

  /// Whether a request has begun and has not come to its end.
  var isInsideRequest: Bool { head != nil || !buffer.isEmpty }

  /// Whether the client waits to be told that its content is welcome.
  var awaitsContinue: Bool { head?.expectsContinue == true && buffer.isEmpty }

  /// Takes in what has come.
  mutating func append(_ bytes: [UInt8]) { buffer += bytes }

  /// Returns the next whole request.
  ///
  /// - Returns: `nil` until more bytes have come.
  /// - Throws: What is wrong with it; nothing that follows on the connection can be trusted.
  mutating func next() throws(HTTPError) -> HTTPRequest? {
    if head == nil {
      guard let lines = try takeHead() else { return nil }
      head = try HTTPHead(lines)
    }
    guard let head, buffer.count >= head.bodyByteCount else { return nil }
    var request = head.request
    request.body = Array(buffer.prefix(head.bodyByteCount))
    buffer.removeFirst(head.bodyByteCount)
    self.head = nil
    return request
  }

  /// Takes the lines up to the first empty one from the buffer; lines end with LF or CR LF.
  private mutating func takeHead() throws(HTTPError) -> [ArraySlice<UInt8>]? {
    if searchedCount == 0 {
      // Empty lines before a request are passed over, as section 2.2 advises.
      let start = buffer.firstIndex { $0 != .carriageReturn && $0 != .lineFeed } ?? buffer.count
      buffer.removeFirst(start)
    }
    while searchedCount < min(buffer.count, Self.headByteCountMaximum) {
      searchedCount += 1
      guard buffer[searchedCount - 1] == .lineFeed else { continue }
      let before = buffer[..<(searchedCount - 1)].suffix(2)
      guard before.last == .lineFeed || before.elementsEqual([.lineFeed, .carriageReturn])
      else { continue }
      let lines = buffer[..<searchedCount].split(
        separator: .lineFeed, omittingEmptySubsequences: false
      ).map { $0.last == .carriageReturn ? $0.dropLast() : $0 }
      buffer.removeFirst(searchedCount)
      searchedCount = 0
      return lines.filter { !$0.isEmpty }
    }
    guard buffer.count < Self.headByteCountMaximum else {
      throw buffer.contains(.lineFeed)
        ? HTTPError(431, "the header fields are longer than \(Self.headByteCountMaximum) bytes")
        : HTTPError(414, "the request line is longer than \(Self.headByteCountMaximum) bytes")
    }
    return nil
  }
}

extension UInt8 {
  fileprivate static let lineFeed = UInt8(ascii: "\n")
  fileprivate static let carriageReturn = UInt8(ascii: "\r")
}
