#if NATS
  import PandoLogFixtures
  import PandoNATSLog

  extension TestCertificates {
    /// What a server has in its configuration.
    var settings: String {
      """
      tls {
        cert_file: "\(folder)/server.pem", key_file: "\(folder)/server.key"
        ca_file: "\(folder)/ca.pem", verify: true
      }
      """
    }

    var tls: LogTLS {
      LogTLS(
        authorityFile: "\(folder)/ca.pem", certificateFile: "\(folder)/client.pem",
        keyFile: "\(folder)/client.key")
    }
  }
#endif
