import Glibc

/// A TCP socket on the loopback interface: a listener or one end of a connection.
///
/// Any thread; the descriptor is closed with the last reference.
final class Socket: Sendable {
  /// How long a peer may take to accept what is written to it.
  private static let writeTimeoutInSeconds = 10
  /// Connections that wait to be accepted.
  private static let backlog: Int32 = 64

  private let descriptor: Int32

  private init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Listens on a port of 127.0.0.1.
  ///
  /// - Parameter port: 0 for any that is free.
  /// - Returns: A listener.
  /// - Throws: ``SocketError``, for example when somebody else listens there.
  static func listening(onPort port: UInt16) throws(SocketError) -> Socket {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketError("socket", errno) }
    let listener = Socket(descriptor)
    listener.setOption(SO_REUSEADDR, to: Int32(1))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    // The address lives until bind returns, and its size is that of its type.
    let status = unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe bind(
        descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        socklen_t(bytes.count))
    }
    guard status == 0 else { throw SocketError("bind", errno) }
    guard listen(descriptor, backlog) == 0 else { throw SocketError("listen", errno) }
    return listener
  }

  /// The port this socket is bound to.
  var port: UInt16 {
    var address = sockaddr_in()
    var byteCount = socklen_t(MemoryLayout<sockaddr_in>.size)
    // Both live until the call returns, and it writes no more than the count says.
    _ = unsafe withUnsafeMutableBytes(of: &address) { bytes in
      unsafe getsockname(
        descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &byteCount)
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Waits for a connection.
  ///
  /// - Returns: `nil` once the listener has been shut down.
  func accept() -> Socket? {
    while true {
      let accepted = Glibc.accept(descriptor, nil, nil)
      if accepted >= 0 {
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        let connection = Socket(accepted)
        connection.setOption(
          SO_SNDTIMEO, to: timeval(tv_sec: Self.writeTimeoutInSeconds, tv_usec: 0))
        return connection
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      // Out of descriptors or memory: those who have theirs will give them back.
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: _ = poll(nil, 0, 50)
      default: return nil
      }
    }
  }

  /// Reads what has come.
  ///
  /// - Parameter deadline: When to give up.
  /// - Returns: At least one byte; `nil` when the peer has finished.
  /// - Throws: ``SocketError``, with `ETIMEDOUT` at the deadline.
  func read(before deadline: ContinuousClock.Instant) throws(SocketError) -> [UInt8]? {
    while true {
      let remaining = (deadline - .now) / .milliseconds(1)
      guard remaining > 0 else { throw SocketError("read", ETIMEDOUT) }
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&entry, 1, Int32(clamping: Int(remaining.rounded(.up))))
      if ready == 0 || (ready < 0 && errno == EINTR) { continue }
      guard ready > 0 else { throw SocketError("poll", errno) }
      var failure: Int32 = 0
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
        // recv writes at most as many bytes as the buffer has room for, and says how many.
        let received = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        count = max(0, received)
        if received < 0 { failure = errno }
      }
      if failure == EINTR { continue }
      guard failure == 0 else { throw SocketError("recv", failure) }
      return bytes.isEmpty ? nil : bytes
    }
  }

  /// Writes all bytes.
  func write(_ bytes: [UInt8]) throws(SocketError) {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        // The rest lies within the array, which this closure keeps alive.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
        // A peer that went away is an error and no signal.
        return unsafe send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        written += count
      } else if errno != EINTR {
        throw SocketError("send", errno)
      }
    }
  }

  /// Ends reading: a thread that waits for a peer or for bytes goes on at once.
  func endReading() { shutdown(descriptor, Int32(SHUT_RD)) }

  /// Says that nothing more will be written.
  func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

  private func setOption<Value: BitwiseCopyable>(_ name: Int32, to value: Value) {
    // The value lives until the call returns, and its size is that of its type.
    _ = unsafe withUnsafeBytes(of: value) { bytes in
      unsafe setsockopt(descriptor, SOL_SOCKET, name, bytes.baseAddress, socklen_t(bytes.count))
    }
  }
}
