import Foundation
import PandoFixtures

/// An authority with a certificate for a server, and one for a client.
public struct TestCertificates {
  /// Where they lie: `ca.pem`, `server.pem`, `server.key`, `client.pem`, `client.key`.
  public let folder: String
  private static let openssl = "/usr/bin/openssl"

  /// Makes certificates.
  ///
  /// - Parameters:
  ///   - folder: Where they are put.
  ///   - name: For whom the server's is.
  ///   - client: Who the client is.
  ///   - isExpired: Whether the server's has ended yesterday.
  /// - Throws: What `openssl` says.
  public init(
    in folder: String, for name: String = "IP:127.0.0.1,DNS:localhost", client: String = "client",
    isExpired: Bool = false
  ) throws {
    self.folder = folder
    try run(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-keyout", "\(folder)/ca.key", "-out", "\(folder)/ca.pem", "-days", "2", "-subj", "/CN=ca")
    for who in ["server", "client"] {
      try "subjectAltName=\(who == "server" ? name : "DNS:client")\n".write(
        toFile: "\(folder)/\(who).ext", atomically: false, encoding: .utf8)
      try run(
        "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
        "\(folder)/\(who).key", "-out", "\(folder)/\(who).csr", "-subj",
        "/CN=\(who == "server" ? who : client)")
      try run(
        "x509", "-req", "-in", "\(folder)/\(who).csr", "-CA", "\(folder)/ca.pem", "-CAkey",
        "\(folder)/ca.key", "-CAcreateserial", "-days", isExpired && who == "server" ? "-1" : "2",
        "-extfile", "\(folder)/\(who).ext",
        "-out", "\(folder)/\(who).pem")
    }
  }

  private struct Failure: Error { let words: String }

  private func run(_ arguments: String...) throws {
    let run = try ChildProcess.run(Self.openssl, arguments)
    if run.status != 0 { throw Failure(words: run.errors) }
  }
}
