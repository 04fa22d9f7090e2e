import Foundation
import PandoFixtures

/// Prints a line at once.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

/// Answers as the first segment of the path says, with the fault of that name or properly.
///
/// What changes something is applied once for each `Idempotency-Key`. With `?times=n` the fault meets the
/// first n requests of a key, and with `&before` it comes before anything is applied.
final class FaultHandler: @unchecked Sendable {
  // Sendable because everything is used under the lock.
  private let lock = NSLock()
  private let file: URL
  private let hasFaults: Bool
  private var applied: Set<String>
  private var counts: [String: Int] = [:]

  /// Knows what an earlier process has applied.
  init(applied file: URL, isFaulty: Bool) {
    self.file = file
    hasFaults = isFaulty
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    applied = Set(
      text.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) })
  }

  /// What to do with a request.
  func answer(_ request: TestServer.Request) -> TestServer.Answer {
    let parts = request.target.split(separator: "?", maxSplits: 1)
    let name = String(parts[0].split(separator: "/").first ?? "")
    let options = parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : []
    let key = request.headers["idempotency-key"] ?? ""
    say("\(request) \(key)")
    let number = lock.withLock {
      counts[key, default: 0] += 1
      return counts[key] ?? 0
    }
    let times = options.compactMap { $0.hasPrefix("times=") ? Int($0.dropFirst(6)) : nil }.first
    let isFaulty = hasFaults && number <= times ?? .max
    if request.method != "GET", !isFaulty || !options.contains("before") {
      apply(key, request.body)
    }
    return isFaulty ? fault(name, request) : .json("{}")
  }

  /// Once for each key, and for good before it is answered.
  private func apply(_ key: String, _ content: String) {
    lock.withLock {
      guard applied.insert(key).inserted, let file = fopen(file.path, "a") else { return }
      fputs("\(key) \(content)\n", file)
      fclose(file)
    }
  }

  private func fault(_ name: String, _ request: TestServer.Request) -> TestServer.Answer {
    let head = "HTTP/1.1 200 OK\r\n"
    switch name {
    case "drop": return .drop
    case "cut-content": return .half(#"{"title": "Dune"}"#)
    case "cut-chunks":
      return .bytes(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo")
    case "both-lengths":
      return .bytes(
        head + "Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
    case "short":
      return .script { $0.send((head + "Content-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n\r\n").utf8) }
    case "no-http": return .bytes("SSH-2.0-OpenSSH_9.6\r\n")
    case "bad-head": return .bytes(head + "no colon\r\nContent-Length: 2\r\n\r\n{}")
    case "early":
      return .bytes("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n\(head)Content-Length: 2\r\n\r\n{}")
    case "429": return .status(429, ["Retry-After": "7"])
    case "503": return .status(503, ["Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"])
    case "401": return .status(401, ["WWW-Authenticate": "Basic realm=\"x\""], "who?")
    case "token":
      let isWelcome = request.headers["authorization"] == "Bearer 2"
      return isWelcome ? .json(#"{"ok":true}"#) : .status(401, ["WWW-Authenticate": "Bearer"])
    case "echo":
      let seen = [request.method, request.headers["authorization"] ?? "-", request.body]
      return .json(seen.joined(separator: " "))
    case "gzip":
      // `{"title":"Dune"}` as gzip writes it.
      let bytes = Data(base64Encoded: Self.zipped) ?? Data()
      return .script { connection in
        connection.send((head + "Content-Encoding: gzip\r\n").utf8)
        connection.send("Content-Length: \(bytes.count)\r\n\r\n".utf8 + bytes)
      }
    case "hold":
      return .script { connection in
        connection.waitForEnd()
        say("ended \(request.target)")
      }
    case "hold-content":
      return .script { connection in
        connection.send((head + "Content-Length: 100\r\n\r\nhello").utf8)
        connection.waitForEnd()
        say("ended \(request.target)")
      }
    case "drip":
      return .script { connection in
        connection.send((head + "Content-Length: 1000000000\r\n\r\n").utf8)
        // One byte at a time until the client goes away.
        while connection.send([1]) { usleep(5000) }
        say("ended \(request.target)")
      }
    case "large":
      let count = Int(request.target.split(separator: "/").last ?? "") ?? 0
      return .script { connection in
        connection.send((head + "Content-Length: \(count)\r\n\r\n").utf8)
        let chunk = [UInt8](repeating: 7, count: 1 << 16)
        var sent = 0
        while sent < count {
          guard connection.send(chunk.prefix(count - sent)) else {
            return say("ended after \(sent)")
          }
          sent = min(count, sent + chunk.count)
        }
        say("sent \(count)")
      }
    default:
      // `/301/PLACE` leads to PLACE, in which `~` stands for a slash.
      guard let status = Int(name), (300..<400).contains(status) else { return .json("{}") }
      let place = request.target.split(separator: "/").last.map(String.init) ?? ""
      return .status(status, ["Location": place.replacingOccurrences(of: "~", with: "/")])
    }
  }

  private static let zipped = "H4sIAAAAAAACA6tWKsksyUlVslJyKc1LVaoFAOzpnCAQAAAA"
}
