/// How a log encrypts its connections.
///
/// Pando always verifies the server's certificate, and that it is valid for the host.
///
/// ```swift
/// configuration.tls = .init(
///   authorityFile: "/etc/shop/authority.pem", certificateFile: "/etc/shop/shop.pem",
///   keyFile: "/run/secrets/shop.key")
/// ```
public struct LogTLS: Sendable, Hashable {
  /// A file of trusted certificates; `nil` for those of the system.
  public var authorityFile: String?
  /// A file with the client's certificate; set ``keyFile`` too.
  public var certificateFile: String?
  /// A file with the key of the client's certificate; with PostgreSQL, only its owner may read it.
  public var keyFile: String?
  /// The name in the certificates of all servers; `nil` for the host name of each server.
  ///
  /// A log over PostgreSQL refuses a name, because libpq verifies the host of the address.
  public var serverName: String?

  /// Makes a description of how connections are encrypted.
  ///
  /// - Parameters:
  ///   - authorityFile: A file of trusted certificates; `nil` for those of the system.
  ///   - certificateFile: A file with the client's certificate.
  ///   - keyFile: A file with its key.
  ///   - serverName: The name in the certificates of all servers.
  public init(
    authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil,
    serverName: String? = nil
  ) {
    self.authorityFile = authorityFile
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.serverName = serverName
  }

  /// The files of the client's certificate; `nil` if it has none.
  ///
  /// - Throws: ``LogFailure`` `refused` if the key is missing.
  package func clientFiles() throws(LogFailure) -> (certificate: String, key: String)? {
    guard let certificateFile else { return nil }
    guard let keyFile else {
      throw LogFailure(.refused, "the client certificate in \(certificateFile) has no key")
    }
    return (certificateFile, keyFile)
  }
}
