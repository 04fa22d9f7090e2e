import PandoSystem

/// Reads a file or a pipe line by line with bounded memory.
///
/// A line ends with a line feed; a carriage return before it is not part of the line. The last
/// line needs no line feed. A byte order mark at the start of the file is skipped.
struct LineReader: ~Copyable {
  /// The longest line: larger than any record the store takes, and small enough that a file
  /// without line feeds is told from a file of lines before memory runs out.
  static let maximumLineByteCount = 256 * 1024 * 1024

  private static let chunkByteCount = 256 * 1024
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  private let input: Input
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  /// Number of lines read so far; after ``next()`` the number of the line it returned, from 1.
  private(set) var lineNumber = 0
  /// Bytes read from the input so far.
  private(set) var byteCount = 0

  /// Reads from an input.
  init(_ input: Input) {
    self.input = input
  }

  /// The next line without its end, or `nil` at the end of the input.
  ///
  /// - Throws: A ``CommandError`` when reading fails or a line is too long.
  mutating func next() throws -> [UInt8]? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: LineReader.lineFeed) {
        defer { start = end + 1 }
        return line(upTo: end)
      }
      searched = buffer.count
      if isAtEnd {
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        return line(upTo: buffer.count)
      }
      if buffer.count - start > LineReader.maximumLineByteCount {
        throw CommandError(
          .badInput, at: "line \(lineNumber + 1)",
          "the line is longer than \(Figures.bytes(LineReader.maximumLineByteCount))",
          remedy: "is this really one JSON value a line?")
      }
      searched -= start
      try fill()
    }
  }

  private mutating func line(upTo end: Int) -> [UInt8] {
    lineNumber += 1
    var line = buffer[start..<end]
    if line.last == LineReader.carriageReturn { line.removeLast() }
    return Array(line)
  }

  /// Drops the lines already returned and reads one more chunk.
  private mutating func fill() throws {
    buffer.removeFirst(start)
    start = 0
    let isFirst = byteCount == 0
    let count = try input.read(LineReader.chunkByteCount, appendingTo: &buffer)
    byteCount += count
    if count == 0 { isAtEnd = true }
    if isFirst, buffer.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
  }
}
