#if PostgreSQL
  import PandoReplication
  import PandoSystem

  /// The connection parameters for libpq.
  enum PostgreSQLParameters {
    /// Returns all parameters for an address.
    ///
    /// - Throws: ``LogFailure``, for files that can't be read.
    static func all(
      _ address: LogAddress, _ configuration: PostgreSQLLogConfiguration
    ) throws(LogFailure) -> [(key: String, value: String)] {
      for name in ["PGHOSTADDR", "PGSERVICE"] where unsafe getenv(name) != nil {
        // libpq would take the address from there.
        throw LogFailure(
          .refused, "\(name) is set, and addresses are those of the configuration")
      }
      let timeout = max(1, configuration.requestTimeoutInMilliseconds)
      var all = [
        ("host", address.host), ("port", "\(address.port)"),
        ("dbname", configuration.database), ("user", configuration.user),
        ("application_name", "pando \(configuration.log)"), ("client_encoding", "UTF8"),
        // libpq skips standbys and servers that take no writes at present.
        ("target_session_attrs", "read-write"), ("gssencmode", "disable"),
        ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "\(timeout)"),
      ]
      all += try security(address, configuration)
      switch configuration.credentials {
      case .none: break
      case .passwordFile(let file):
        all.append(("password", try LogFailure.password(in: file)))
      case .passfile(let file):
        guard let mode = mode(of: file) else {
          throw LogFailure(.refused, "the passfile \(file) can't be read")
        }
        guard mode & 0o77 == 0 else {
          // libpq ignores such a file and prints a warning.
          throw LogFailure(.refused, "others may read the passfile \(file)")
        }
        all.append(("passfile", file))
      }
      return all.map { (key: $0.0, value: $0.1) }
    }

    /// Whether connections to an address are encrypted.
    static func isEncrypted(
      _ address: LogAddress, _ configuration: PostgreSQLLogConfiguration
    ) -> Bool {
      if address.isSocket { return false }
      if configuration.tls != nil { return true }
      return !address.isLocal && !configuration.allowsPlainText
    }

    private static func security(
      _ address: LogAddress, _ configuration: PostgreSQLLogConfiguration
    ) throws(LogFailure) -> [(String, String)] {
      guard isEncrypted(address, configuration) else { return [("sslmode", "disable")] }
      let tls = configuration.tls ?? LogTLS()
      guard tls.serverName == nil else {
        throw LogFailure(.refused, "libpq verifies the host of an address, and no other serverName")
      }
      var all = [
        ("sslmode", "verify-full"), ("sslrootcert", tls.authorityFile ?? systemAuthorities),
        ("ssl_min_protocol_version", "TLSv1.2"),
      ]
      if let (file, key) = try tls.clientFiles() { all += [("sslcert", file), ("sslkey", key)] }
      return all
    }

    /// Returns the mode of a file; `nil` if it can't be read.
    private static func mode(of file: String) -> mode_t? {
      let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { return nil }
      return status.st_mode
    }

    /// The certificates of the system, as Debian installs them; libpq 15 has no name for them.
    private static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"
  }
#endif
