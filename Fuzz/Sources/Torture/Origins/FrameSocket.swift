import Glibc

/// A stream socket on this machine; it carries lists of byte strings.
///
/// ```
/// count: UInt32, then for each: length: UInt32, bytes
/// ```
struct FrameSocket: Sendable {
  typealias Frame = [[UInt8]]

  private let descriptor: CInt

  private init(_ descriptor: CInt) throws {
    guard descriptor >= 0 else { throw TortureFailure("socket: errno \(errno)") }
    // No process that is started later has it.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    self.descriptor = descriptor
  }

  /// Waits for connections at a path.
  static func listening(at path: String) throws -> FrameSocket {
    let socket = try FrameSocket(Self.make())
    try withAddress(path) { try check("bind", bind(socket.descriptor, $0, $1)) }
    try check("listen", listen(socket.descriptor, 64))
    return socket
  }

  /// Connects to who waits at a path.
  init(connectingTo path: String) throws {
    try self.init(Self.make())
    try Self.withAddress(path) { try Self.check("connect", connect(descriptor, $0, $1)) }
  }

  /// The next connection, `nil` when it has been ended.
  func accepted() -> FrameSocket? { try? FrameSocket(accept(descriptor, nil, nil)) }

  /// Ends it for both sides; a waiting call returns.
  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Gives its number back; it is no longer in use.
  func release() { close(descriptor) }

  /// - Returns: Whether all of it was written.
  func send(_ frame: Frame) -> Bool {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(frame.reduce(4) { $0 + 4 + $1.count })
    bytes.append(number: frame.count)
    for part in frame {
      bytes.append(number: part.count)
      bytes += part
    }
    return bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = Glibc.write(
          descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        done += count
      }
      return true
    }
  }

  /// - Returns: `nil` at the end.
  func receive() -> Frame? {
    guard let count = receiveNumber() else { return nil }
    var frame: Frame = []
    for _ in 0..<count {
      guard let length = receiveNumber(), let part = receive(byteCount: length) else { return nil }
      frame.append(part)
    }
    return frame
  }

  private func receiveNumber() -> Int? {
    receive(byteCount: 4)?.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  private func receive(byteCount: Int) -> [UInt8]? {
    var isWhole = true
    let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initializedCount in
      while initializedCount < byteCount {
        let count = read(
          descriptor, buffer.baseAddress?.advanced(by: initializedCount),
          byteCount - initializedCount)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
          isWhole = false
          return
        }
        initializedCount += count
      }
    }
    return isWhole ? bytes : nil
  }

  private static func make() -> CInt { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
  ) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    try withUnsafeMutableBytes(of: &address.sun_path) { place in
      try require(path.utf8.count < place.count, "\(path) is too long for a socket")
      place.copyBytes(from: path.utf8)
    }
    try withUnsafePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func check(_ name: String, _ status: CInt) throws {
    guard status == 0 else { throw TortureFailure("\(name): errno \(errno)") }
  }
}

extension [UInt8] {
  /// Texts and numbers in a frame.
  init(text: some CustomStringConvertible) { self = Array(text.description.utf8) }

  var text: String { String(decoding: self, as: UTF8.self) }
  var number: UInt64? { UInt64(text) }

  fileprivate mutating func append(number: Int) {
    for shift in [0, 8, 16, 24] { append(UInt8(truncatingIfNeeded: number >> shift)) }
  }
}
