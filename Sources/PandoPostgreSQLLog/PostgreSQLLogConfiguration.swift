#if PostgreSQL
  public import PandoReplication

  /// The address and the settings of a log over PostgreSQL.
  ///
  /// It contains no secrets: the files that it names do. libpq takes other settings from its own
  /// sources, such as `PGPASSWORD` and `~/.pgpass`, but never encryption and addresses.
  ///
  /// ```swift
  /// var configuration = PostgreSQLLogConfiguration(
  ///   servers: ["db1.example.org", "db2.example.org"], database: "shop", user: "shop", log: "orders")
  /// configuration.credentials = .passwordFile("/run/secrets/shop")
  /// configuration.tls = .init(authorityFile: "/etc/shop/authority.pem")
  /// ```
  public struct PostgreSQLLogConfiguration: Sendable, Hashable {
    /// How a connection authenticates.
    ///
    /// ```swift
    /// configuration.credentials = .passwordFile("/run/secrets/shop")
    /// ```
    public enum Credentials: Sendable, Hashable {
      /// The user of the process, the client certificate, or a source of libpq.
      case none
      /// A file whose first line is the password.
      case passwordFile(String)
      /// A file of lines `host:port:database:user:password` for libpq; only its owner may read it.
      case passfile(String)
    }

    /// The servers, of which one takes writes: `host`, `host:5432`, `[::1]:5432`, or the folder of
    /// a Unix socket, such as `/run/postgresql` or `/run/postgresql:5432`.
    ///
    /// Pando tries them in this order, starting with the last one that answered.
    public var servers: [String]
    /// The name of the database.
    public var database: String
    /// The role.
    public var user: String
    /// The name of the log: at most 40 lower-case letters, digits and `_`.
    public var log: String
    /// The schema of the tables: at most 40 lower-case letters, digits and `_`.
    public var schema = "pando"
    /// How long a call waits for the server, in milliseconds; at least 1.
    ///
    /// The system resolves host names, with timeouts of its own.
    public var requestTimeoutInMilliseconds = 5000
    /// How connections to hosts are encrypted; `nil` for plain text on this machine and verified
    /// TLS with the system's authorities elsewhere.
    public var tls: LogTLS?
    /// How a connection authenticates.
    public var credentials = Credentials.none
    /// Whether other machines get plain text where ``tls`` is `nil`.
    public var allowsPlainText = false
    /// For created tables: how long messages are kept, in seconds; 0 for ever.
    public var maximalAgeInSeconds = 7 * 24 * 3600
    /// For created tables: how many bytes of messages are kept; 0 for any number.
    public var maximalByteCount = 8 << 30
    /// Whether to create a missing schema and tables: for the first machine of a new log, once.
    ///
    /// With `true` at each start, an empty log replaces one that the database has lost.
    public var makesTables = false

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - servers: The servers: hosts, with or without a port, or folders of Unix sockets.
    ///   - database: The name of the database.
    ///   - user: The role.
    ///   - log: The name of the log, of lower-case letters, digits and `_`.
    public init(servers: [String], database: String, user: String, log: String) {
      self.servers = servers
      self.database = database
      self.user = user
      self.log = log
    }
  }

  extension PostgreSQLLogConfiguration: CustomStringConvertible, CustomReflectable {
    /// The log and its servers, without secrets in addresses.
    public var description: String {
      let names = LogAddress.names(servers, LogAddress.init(postgreSQL:))
      return "log \(schema).\(log) of database \(database) at \(names)"
    }

    /// The description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
  }
#endif
