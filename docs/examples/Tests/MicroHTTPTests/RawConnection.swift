import Foundation
import Glibc
import PandoFixtures

/// A client that sends whatever it likes.
final class RawConnection: Sendable {
  private let descriptor: Int32

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafeBytes(of: &address) { bytes in
      connect(
        descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        socklen_t(bytes.count))
    }
    try Self.check(status == 0)
  }

  deinit { close(descriptor) }

  func write(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      try Self.check(count > 0)
      rest = rest.dropFirst(count)
    }
  }

  private static func check(_ isDone: Bool) throws {
    if !isDone { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL) }
  }

  /// Reads until the other side has finished.
  func readToEnd() async throws -> String {
    try await blocking { try self.readAll() }
  }

  private func readAll() throws -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      try Self.check(count >= 0)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }
}
