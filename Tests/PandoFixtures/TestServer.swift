import Foundation
import Glibc

/// A small HTTP/1.1 server on 127.0.0.1 that does what a test says, also what no server should.
///
/// Each connection has a thread of its own, so a handler can wait as long as the test wants.
public final class TestServer: @unchecked Sendable {
  /// A request as it came.
  public struct Request: Sendable, CustomStringConvertible {
    /// Its place among all requests, from 1.
    public let number: Int
    /// The method.
    public let method: String
    /// The path with what stands behind the question mark.
    public let target: String
    /// The header fields, names in small letters.
    public let headers: [String: String]
    /// The content.
    public let body: String

    /// Method and target.
    public var description: String { "\(method) \(target)" }
  }

  /// What the server does.
  public enum Answer: Sendable {
    /// Answers.
    case status(Int, _ headers: [String: String] = [:], _ body: String = "")
    /// Closes the connection without a word.
    case drop
    /// Promises the whole content, sends its first half, and closes the connection.
    case half(String)
    /// Sends bytes as they are, and closes the connection.
    case bytes(String)
    /// Lets a closure send what it wants, and closes the connection.
    case script(@Sendable (Connection) -> Void)

    /// Answers with JSON and 200.
    public static func json(_ body: String, _ headers: [String: String] = [:]) -> Answer {
      .status(200, headers.merging(["Content-Type": "application/json"]) { old, _ in old }, body)
    }
  }

  /// The connection of a client that waits for its answer.
  public struct Connection: Sendable {
    fileprivate let descriptor: Int32

    /// Sends bytes as they are.
    ///
    /// - Parameter bytes: What to send; waits while the client does not read.
    /// - Returns: Whether the client is still there.
    @discardableResult
    public func send(_ bytes: some Sequence<UInt8>) -> Bool {
      let bytes = Array(bytes)
      var written = 0
      while written < bytes.count {
        let count = bytes.withUnsafeBytes { buffer in
          let rest = UnsafeRawBufferPointer(rebasing: buffer[written...])
          return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        written += count
      }
      return true
    }

    /// Waits until the client closes the connection.
    public func waitForEnd() {
      var byte: UInt8 = 0
      while true {
        let count = recv(descriptor, &byte, 1, 0)
        if count > 0 || count < 0 && errno == EINTR { continue }
        return
      }
    }
  }

  /// Decides what to do; called on the thread of the connection.
  public typealias Handler = @Sendable (Request) -> Answer

  /// Where it listens.
  public let port: UInt16

  // Sendable because everything below is used under the lock, but for constants.
  private let lock = NSLock()
  private let listener: Int32
  private let handler: Handler
  private var connections: Set<Int32> = []
  private var isStopped = false
  private var isClosed = false
  private var log: [Request] = []
  private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - port: Where; 0 for any free port.
  ///   - handler: Decides what to do.
  /// - Throws: `POSIXError`, for example when somebody else listens there.
  public init(port: UInt16 = 0, handler: @escaping Handler) throws {
    self.handler = handler
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
    }
    guard bound == 0, listen(listener, 64) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL)
    }
    withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = getsockname(listener, $0, &size)
      }
    }
    self.listener = listener
    self.port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else {
          if errno == EINTR || errno == ECONNABORTED { continue }
          // Here and not where it is stopped: this thread could take the number of the next server's.
          lock.withLock { isClosed = true }
          close(listener)
          return
        }
        let isWelcome = lock.withLock { () -> Bool in
          if !isStopped { connections.insert(connection) }
          return !isStopped
        }
        guard isWelcome else {
          close(connection)
          continue
        }
        Thread.detachNewThread { [self] in
          serve(connection)
          _ = lock.withLock { connections.remove(connection) }
          close(connection)
        }
      }
    }
  }

  /// The address of the server.
  public var address: String { "http://127.0.0.1:\(port)" }

  /// The requests that have come so far, in the order in which they were complete.
  public var requests: [Request] { lock.withLock { log } }

  /// Waits until some number of requests has come.
  ///
  /// - Parameter count: How many.
  public func received(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = lock.withLock { () -> Bool in
        if log.count >= count { return true }
        waiting.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Ends listening and all connections.
  public func stop() {
    lock.withLock {
      guard !isStopped else { return }
      isStopped = true
      if !isClosed { shutdown(listener, Int32(SHUT_RDWR)) }
      for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
    }
  }

  private func serve(_ connection: Int32) {
    var buffer: [UInt8] = []
    while let (request, keeps) = readRequest(connection, &buffer) {
      switch handler(request) {
      case .status(let status, let headers, let body):
        var head = "HTTP/1.1 \(status) Test\r\nContent-Length: \(body.utf8.count)\r\n"
        if status == 304 || status == 204 { head = "HTTP/1.1 \(status) Test\r\n" }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
          head += "\(name): \(value)\r\n"
        }
        let content = request.method == "HEAD" || status == 304 || status == 204 ? "" : body
        write(connection, head + "\r\n" + content)
        if !keeps { return }
      case .drop: return
      case .half(let body):
        let bytes = Array(body.utf8)
        write(
          connection,
          "HTTP/1.1 200 Test\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(bytes.count)\r\n\r\n"
            + String(decoding: bytes.prefix(bytes.count / 2), as: UTF8.self))
        return
      case .bytes(let text):
        write(connection, text)
        return
      case .script(let run):
        run(Connection(descriptor: connection))
        return
      }
    }
  }

  private func readRequest(_ connection: Int32, _ buffer: inout [UInt8]) -> (Request, Bool)? {
    let end = Array("\r\n\r\n".utf8)
    var headEnd = find(end, in: buffer)
    while headEnd == nil {
      guard more(connection, &buffer) else { return nil }
      headEnd = find(end, in: buffer)
    }
    guard let headEnd else { return nil }
    let lines = String(decoding: buffer[..<headEnd], as: UTF8.self).components(
      separatedBy: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count == 3 else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    let bodyStart = headEnd + end.count
    if headers["expect"] != nil, buffer.count < bodyStart + length {
      write(connection, "HTTP/1.1 100 Continue\r\n\r\n")
    }
    while buffer.count < bodyStart + length {
      guard more(connection, &buffer) else { return nil }
    }
    let body = String(decoding: buffer[bodyStart..<bodyStart + length], as: UTF8.self)
    buffer.removeFirst(bodyStart + length)
    var ready: [CheckedContinuation<Void, Never>] = []
    let request = lock.withLock { () -> Request in
      let request = Request(
        number: log.count + 1, method: String(words[0]), target: String(words[1]),
        headers: headers, body: body)
      log.append(request)
      ready = waiting.filter { $0.count <= log.count }.map(\.continuation)
      waiting.removeAll { $0.count <= log.count }
      return request
    }
    for continuation in ready { continuation.resume() }
    return (request, headers["connection"]?.lowercased() != "close")
  }

  private func find(_ pattern: [UInt8], in buffer: [UInt8]) -> Int? {
    guard buffer.count >= pattern.count else { return nil }
    return (0...(buffer.count - pattern.count)).first {
      buffer[$0] == pattern[0] && Array(buffer[$0..<$0 + pattern.count]) == pattern
    }
  }

  private func more(_ connection: Int32, _ buffer: inout [UInt8]) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = recv(connection, &chunk, chunk.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      buffer += chunk[..<count]
      return true
    }
  }

  private func write(_ connection: Int32, _ text: String) {
    Connection(descriptor: connection).send(text.utf8)
  }
}
