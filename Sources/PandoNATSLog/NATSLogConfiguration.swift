#if NATS
  /// Where a log over NATS JetStream is, and how it is kept.
  ///
  /// It holds no secrets: those lie in files that it names.
  ///
  /// ```swift
  /// var configuration = NATSLogConfiguration(
  ///   servers: ["tls://one.example.org:4222", "tls://two.example.org:4222"], stream: "orders")
  /// configuration.tls = .init(authorityFile: "/etc/shop/authority.pem")
  /// configuration.credentials = .credentialsFile("/run/secrets/shop.creds")
  /// ```
  public struct NATSLogConfiguration: Sendable, Hashable {
    /// How a connection proves who it is.
    ///
    /// ```swift
    /// configuration.credentials = .user("shop", passwordFile: "/run/secrets/shop")
    /// ```
    public enum Credentials: Sendable, Hashable {
      /// Not at all, or by the client certificate alone.
      case none
      /// A name, and a file that holds the password.
      case user(String, passwordFile: String)
      /// The public part of an NKey, and a file that holds its seed.
      case nkey(String, seedFile: String)
      /// A file with a token of a user and its seed, as `nsc` makes it.
      case credentialsFile(String)
    }

    /// How connections are encrypted.
    ///
    /// The certificates of servers are always verified.
    ///
    /// ```swift
    /// configuration.tls = .init(
    ///   authorityFile: "/etc/shop/authority.pem", certificateFile: "/etc/shop/shop.pem",
    ///   keyFile: "/run/secrets/shop.key")
    /// ```
    public struct TLS: Sendable, Hashable {
      /// A file with the certificates to trust; `nil` for those of the system.
      public var authorityFile: String?
      /// A file with the client's certificate; its key has to be given too.
      public var certificateFile: String?
      /// A file with the key of the client's certificate.
      public var keyFile: String?
      /// The name that the certificates of all servers must hold; `nil` for the host of the one that is
      /// connected to.
      public var serverName: String?

      /// Makes a description of how connections are encrypted.
      ///
      /// - Parameters:
      ///   - authorityFile: A file with the certificates to trust; `nil` for those of the system.
      ///   - certificateFile: A file with the client's certificate.
      ///   - keyFile: A file with its key.
      ///   - serverName: The name that all servers' certificates must hold.
      public init(
        authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil,
        serverName: String? = nil
      ) {
        self.authorityFile = authorityFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.serverName = serverName
      }
    }

    /// The servers of one cluster, as `nats://host:4222` or `tls://host:4222`.
    public var servers: [String]
    /// The name of the stream, of letters, digits, `-` and `_`.
    public var stream: String
    /// The subject of its messages; `nil` for `pando.` and the name of the stream.
    public var subject: String?
    /// On how many servers each stream is kept, if it is made here: 1, 3 or 5.
    public var replicas = 3
    /// Where the servers' monitoring listens, as `http://10.0.0.1:8222`, one address for each server.
    ///
    /// They are asked, in plain text, whether each message is flushed before it is acknowledged; nothing is sent but the
    /// question. Where none is given `NATSLog.warnings` says that it is not known.
    public var monitors: [String] = []
    /// How long a call waits for the engine, in milliseconds; at least 1.
    public var requestTimeoutInMilliseconds = 5000
    /// How connections are encrypted; `nil` for plain text.
    public var tls: TLS?
    /// How a connection proves who it is.
    public var credentials = Credentials.none
    /// Whether plain text may go to other machines.
    public var allowsPlainText = false
    /// How long messages are kept if the stream is made here, in seconds; 0 for ever.
    public var maximalAgeInSeconds = 7 * 24 * 3600
    /// How many bytes are kept if the stream is made here; 0 for any number.
    public var maximalByteCount = 8 << 30
    /// Whether streams that are not there are made, that of the log and that of copies: for the first machine of a
    /// new log, once.
    ///
    /// A program that always does begins an empty log where the servers have lost the old one.
    public var makesStream = false

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - servers: The servers of one cluster, as `nats://host:4222` or `tls://host:4222`.
    ///   - stream: The name of the stream, of letters, digits, `-` and `_`.
    public init(servers: [String], stream: String) {
      self.servers = servers
      self.stream = stream
    }

    var streamSubject: String { subject ?? "pando.\(stream)" }
    var snapshotStream: String { "\(stream)-snapshots" }
    /// What the subjects of copies begin with.
    var snapshotSubject: String { "\(streamSubject)-snapshots" }
  }

  extension NATSLogConfiguration: CustomStringConvertible, CustomReflectable {
    /// The stream and its servers, without what addresses may hold beside.
    public var description: String {
      let names = servers.map { server in
        (try? NATSAddress(server)).map { "\($0)" } ?? "an address that can't be one"
      }
      return "stream \(stream) at \(names.joined(separator: ", "))"
    }

    /// The same.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
  }
#endif
