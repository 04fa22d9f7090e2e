import PandoSystem

/// A file, or standard input for `-`, opened for reading.
///
/// One thread at a time reads; the descriptor is all the state there is.
final class Input: Sendable {
  /// How the input is called in messages.
  let name: String
  /// Bytes in the file, or `nil` when it is a pipe.
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
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: limit))
    while true {
      let count = unsafe bytes.withUnsafeMutableBytes { buffer in
        // The rebased part lies within the array, which this closure keeps alive.
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
        return unsafe Glibc.read(descriptor, room.baseAddress, room.count)
      }
      if count >= 0 {
        bytes.removeLast(limit - count)
        return count
      }
      if errno != EINTR {
        throw CommandError(.failure, at: name, SystemError.text(errno))
      }
    }
  }

  /// Reads everything that is left.
  func readAll() throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity((byteCount ?? 0) + 64 * 1024)
    while try read(max(64 * 1024, (byteCount ?? 0) - bytes.count), appendingTo: &bytes) > 0 {}
    return bytes
  }
}
