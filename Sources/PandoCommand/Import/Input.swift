import PandoSystem

/// A file, or standard input for `-`, opened for reading.
///
/// One thread at a time reads; the only state is the descriptor.
final class Input: Sendable {
  /// The name of the input in messages.
  let name: String
  /// The number of bytes of a file, or `nil` for a pipe.
  let byteCount: Int?

  private let descriptor: Int32

  /// Opens a path; `-` is standard input.
  ///
  /// - Throws: A ``CommandError`` that names the path.
  init(path: String) throws(CommandError) {
    if path == "-" {
      name = "standard input"
      descriptor = STDIN_FILENO
    } else {
      name = path
      descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        let code = errno
        throw CommandError(
          code == ENOENT ? .notThere : .failure, at: path, SystemError.text(code),
          remedy: "give a file that can be read, or - for standard input")
      }
    }
    var status = stat()
    // `status` is a plain C struct that fstat fills.
    let isKnown = unsafe fstat(descriptor, &status) == 0
    if isKnown, status.st_mode & S_IFMT == S_IFDIR {
      throw CommandError(
        .badInput, at: path, "this is a directory", remedy: "give a file, or - for standard input")
    }
    byteCount = isKnown && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
  }

  deinit {
    if descriptor != STDIN_FILENO { close(descriptor) }
  }

  /// Appends up to `limit` bytes.
  ///
  /// - Returns: The number of bytes appended; 0 at the end of the input.
  func read(_ limit: Int, appendingTo bytes: inout [UInt8]) throws(CommandError) -> Int {
    while true {
      var (result, code) = (0, Int32(0))
      // Not an array of zeros: without optimization, filling one takes longer than an import of a few lines.
      let read = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
        result = unsafe Glibc.read(descriptor, buffer.baseAddress, limit)
        code = errno
        count = max(0, result)
      }
      if result >= 0 {
        bytes += read
        return result
      }
      if code != EINTR { throw CommandError(.failure, at: name, SystemError.text(code)) }
    }
  }

  /// Reads the rest of the input.
  func readAll() throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity((byteCount ?? 0) + 64 * 1024)
    while try read(max(64 * 1024, (byteCount ?? 0) - bytes.count), appendingTo: &bytes) > 0 {}
    return bytes
  }
}

/// Reads a file or a pipe line by line with bounded memory.
///
/// A line ends with a line feed; a carriage return before it is not part of the line. The last
/// line needs no line feed. A byte order mark at the start of the file is skipped.
struct LineReader: ~Copyable {
  /// The maximum line length: larger than any record of the store, and small enough to refuse a
  /// file without line feeds before memory runs out.
  static let maximumLineByteCount = 256 * 1024 * 1024

  private static let chunkByteCount = 256 * 1024
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  private let input: Input
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  /// The number of lines read so far; after ``next()`` the number of the returned line, from 1.
  private(set) var lineNumber = 0
  /// The number of bytes read so far.
  private(set) var byteCount = 0

  /// Makes a reader of an input.
  init(_ input: Input) {
    self.input = input
  }

  /// Returns the next line without its end, or `nil` at the end of the input.
  ///
  /// - Throws: A ``CommandError`` if reading fails or a line is too long.
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

  /// Drops the returned lines and reads one more chunk.
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
