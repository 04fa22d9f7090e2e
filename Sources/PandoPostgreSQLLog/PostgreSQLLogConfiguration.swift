#if PostgreSQL
  /// Where a log over PostgreSQL is, and how it is kept.
  ///
  /// It holds no secrets: those lie in files that it names. What is not said here libpq takes from its own
  /// places, such as `PGPASSWORD` and `~/.pgpass`; encryption and addresses never.
  ///
  /// ```swift
  /// var configuration = PostgreSQLLogConfiguration(
  ///   servers: ["db1.example.org", "db2.example.org"], database: "shop", user: "shop", log: "orders")
  /// configuration.credentials = .passwordFile("/run/secrets/shop")
  /// configuration.tls = .init(authorityFile: "/etc/shop/authority.pem")
  /// ```
  public struct PostgreSQLLogConfiguration: Sendable, Hashable {
    /// How a connection proves who it is.
    ///
    /// ```swift
    /// configuration.credentials = .passwordFile("/run/secrets/shop")
    /// ```
    public enum Credentials: Sendable, Hashable {
      /// As the user of the process, by the client certificate, or by what libpq finds by itself.
      case none
      /// A file whose first line is the password.
      case passwordFile(String)
      /// A file of lines `host:port:database:user:password`, as libpq reads it; nobody but its owner may read it.
      case passfile(String)
    }

    /// How connections are encrypted.
    ///
    /// The certificates of servers are always verified, and have to be for the host that is connected to.
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
      /// A file with the key of the client's certificate; nobody but its owner may read it.
      public var keyFile: String?

      /// Makes a description of how connections are encrypted.
      ///
      /// - Parameters:
      ///   - authorityFile: A file with the certificates to trust; `nil` for those of the system.
      ///   - certificateFile: A file with the client's certificate.
      ///   - keyFile: A file with its key.
      public init(
        authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil
      ) {
        self.authorityFile = authorityFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
      }
    }

    /// The servers of which one takes writes: `host`, `host:5432`, `[::1]:5432`, or the folder of a Unix socket, as
    /// `/run/postgresql` or `/run/postgresql:5432`.
    ///
    /// They are tried in this order, from the one that answered last.
    public var servers: [String]
    /// The name of the database.
    public var database: String
    /// The role.
    public var user: String
    /// The name of the log, of lower-case letters, digits and `_`; 40 at most.
    public var log: String
    /// The schema of the log's tables, of lower-case letters, digits and `_`; 40 at most.
    public var schema = "pando"
    /// How long a call waits for the server, in milliseconds; at least 1.
    ///
    /// Host names are resolved by the system, which has times of its own.
    public var requestTimeoutInMilliseconds = 5000
    /// How connections to hosts are encrypted; `nil` for plain text on the own machine, and for verified
    /// certificates of the system's authorities to any other.
    public var tls: TLS?
    /// How a connection proves who it is.
    public var credentials = Credentials.none
    /// Whether plain text goes to other machines where ``tls`` is `nil`.
    public var allowsPlainText = false
    /// How long messages are kept if the tables are made here, in seconds; 0 for ever.
    public var maximalAgeInSeconds = 7 * 24 * 3600
    /// How many bytes of messages are kept if the tables are made here; 0 for any number.
    public var maximalByteCount = 8 << 30
    /// Whether a schema and tables that are not there are made: for the first machine of a new log, once.
    ///
    /// A program that always does begins an empty log where the database has lost the old one.
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
    /// The log and its servers, without what addresses may hold beside.
    public var description: String {
      let names = servers.map { server in
        (try? PostgreSQLAddress(server)).map { "\($0)" } ?? "an address that can't be one"
      }
      return "log \(schema).\(log) of database \(database) at \(names.joined(separator: ", "))"
    }

    /// The same.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
  }
#endif
