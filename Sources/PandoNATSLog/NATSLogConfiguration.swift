#if NATS
  public import PandoReplication

  /// The address and the settings of a log over NATS JetStream.
  ///
  /// It contains no secrets: the files that it names do.
  ///
  /// ```swift
  /// var configuration = NATSLogConfiguration(
  ///   servers: ["tls://one.example.org:4222", "tls://two.example.org:4222"], stream: "orders")
  /// configuration.tls = .init(authorityFile: "/etc/shop/authority.pem")
  /// configuration.credentials = .credentialsFile("/run/secrets/shop.creds")
  /// ```
  public struct NATSLogConfiguration: Sendable, Hashable {
    /// How a connection authenticates.
    ///
    /// ```swift
    /// configuration.credentials = .user("shop", passwordFile: "/run/secrets/shop")
    /// ```
    public enum Credentials: Sendable, Hashable {
      /// No authentication, or the client certificate alone.
      case none
      /// A user name, and a file with the password.
      case user(String, passwordFile: String)
      /// The public key of an NKey, and a file with its seed.
      case nkey(String, seedFile: String)
      /// A file with a user's token and seed, as made by `nsc`.
      case credentialsFile(String)
    }

    /// The servers of one cluster, such as `nats://host:4222` or `tls://host:4222`.
    public var servers: [String]
    /// The name of the stream, of letters, digits, `-` and `_`.
    public var stream: String
    /// The subject of the messages; `nil` for `pando.` and the name of the stream.
    public var subject: String?
    /// For created streams: the number of servers that store each one: 1, 3 or 5.
    public var replicas = 3
    /// The servers' monitoring addresses, such as `http://10.0.0.1:8222`, one for each server.
    ///
    /// Pando requests, in plain text, whether each message is flushed before it is acknowledged.
    /// Without an address, `NATSLog.warnings` says that this is unknown.
    public var monitors: [String] = []
    /// How long a call waits for the server, in milliseconds; at least 1.
    public var requestTimeoutInMilliseconds = 5000
    /// How connections are encrypted; `nil` for plain text.
    public var tls: LogTLS?
    /// How a connection authenticates.
    public var credentials = Credentials.none
    /// Whether plain text may go to other machines.
    public var allowsPlainText = false
    /// For a created stream: how long messages are kept, in seconds; 0 for ever.
    public var maximalAgeInSeconds = 7 * 24 * 3600
    /// For a created stream: how many bytes are kept; 0 for any number.
    public var maximalByteCount = 8 << 30
    /// Whether to create missing streams, for messages and copies: for the first machine of a new
    /// log, once.
    ///
    /// With `true` at each start, an empty log replaces one that the servers have lost.
    public var makesStream = false

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - servers: The servers of one cluster, such as `nats://host:4222` or `tls://host:4222`.
    ///   - stream: The name of the stream, of letters, digits, `-` and `_`.
    public init(servers: [String], stream: String) {
      self.servers = servers
      self.stream = stream
    }

    var streamSubject: String { subject ?? "pando.\(stream)" }
    var snapshotStream: String { "\(stream)-snapshots" }
    /// The prefix of the subjects of copies.
    var snapshotSubject: String { "\(streamSubject)-snapshots" }
  }

  extension NATSLogConfiguration: CustomStringConvertible, CustomReflectable {
    /// The stream and its servers, without secrets in addresses.
    public var description: String {
      "stream \(stream) at \(LogAddress.names(servers) { text throws(LogFault) in try LogAddress(nats: text) })"
    }

    /// The description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
  }
#endif
