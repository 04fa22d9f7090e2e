#if PostgreSQL
  import PandoReplication

  /// The tables of a log, as SQL names them.
  ///
  /// - `…_end`: one row. Its lock orders appends; `total` counts the bytes of all messages.
  /// - `…_messages`: the messages; `total` counts the bytes up to and including each.
  /// - `…_copies`: copies of stores, valid if `closed` has a number; the largest is the newest.
  /// - `…_parts`: their parts; `checksum` is the XXH64 of each, seeded with that of the last part.
  struct PostgreSQLTables: Sendable {
    let schema: String
    let log: String

    /// Takes the names from a configuration.
    ///
    /// - Throws: ``LogFault`` `unavailable` if they are not valid.
    init(_ configuration: PostgreSQLLogConfiguration) throws(LogFault) {
      for (kind, name) in [("schema", configuration.schema), ("log", configuration.log)] {
        guard 1...40 ~= name.utf8.count,
          name.utf8.allSatisfy({ byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
              || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "_")
          })
        else { throw .unavailable("“\(name)” can't be the name of a \(kind)") }
      }
      (schema, log) = (configuration.schema, configuration.log)
    }

    var end: String { quoted("end") }
    var messages: String { quoted("messages") }
    var copies: String { quoted("copies") }
    var parts: String { quoted("parts") }
    /// The name of the log in errors.
    var title: String { "\(schema).\(log)" }

    /// The constraint that makes names unique.
    var nameConstraint: String { "\(log)_messages_name" }

    /// The number of the notification channel, and of the lock for creating the tables.
    var number: UInt64 { SealedBytes.hash(Array(title.utf8), after: 0) }
    var channel: String { "pando_\(String(number, radix: 16))" }

    private func quoted(_ kind: String) -> String { "\"\(schema)\".\"\(log)_\(kind)\"" }
  }

  extension PostgreSQLTables {
    /// The statements that create the tables.
    ///
    /// Each append updates the row of `…_end`; the free space keeps the update in one page.
    var definitions: [String] {
      [
        """
        CREATE TABLE \(end) (
          last bigint NOT NULL, total bigint NOT NULL, seconds_kept bigint NOT NULL,
          bytes_kept bigint NOT NULL, version bigint NOT NULL,
          CONSTRAINT "\(log)_end_pkey" PRIMARY KEY (version)) WITH (fillfactor = 10)
        """,
        """
        CREATE TABLE \(messages) (
          position bigint NOT NULL, name text NOT NULL, message bytea NOT NULL,
          total bigint NOT NULL, appended_at timestamptz NOT NULL,
          CONSTRAINT "\(log)_messages_pkey" PRIMARY KEY (position),
          CONSTRAINT "\(nameConstraint)" UNIQUE (name))
        """,
        """
        CREATE TABLE \(copies) (
          number bigint NOT NULL GENERATED ALWAYS AS IDENTITY, position bigint NOT NULL,
          begun_at timestamptz NOT NULL, closed bigint, part_count bigint, checksum bigint,
          CONSTRAINT "\(log)_copies_pkey" PRIMARY KEY (number),
          CONSTRAINT "\(log)_copies_closed" UNIQUE (closed))
        """,
        """
        CREATE TABLE \(parts) (
          copy bigint NOT NULL, part bigint NOT NULL, bytes bytea NOT NULL,
          checksum bigint NOT NULL,
          CONSTRAINT "\(log)_parts_pkey" PRIMARY KEY (copy, part))
        """,
      ]
    }

    /// The expected columns and constraints of the tables, by table name.
    var expected: [String: (columns: String, constraints: String)] {
      [
        "\(log)_end": (
          "last bigint, total bigint, seconds_kept bigint, bytes_kept bigint, version bigint",
          "\(log)_end_pkey"
        ),
        "\(log)_messages": (
          "position bigint, name text, message bytea, total bigint, "
            + "appended_at timestamp with time zone",
          "\(log)_messages_name, \(log)_messages_pkey"
        ),
        "\(log)_copies": (
          "number bigint, position bigint, begun_at timestamp with time zone, closed bigint, "
            + "part_count bigint, checksum bigint",
          "\(log)_copies_closed, \(log)_copies_pkey"
        ),
        "\(log)_parts": (
          "copy bigint, part bigint, bytes bytea, checksum bigint", "\(log)_parts_pkey"
        ),
      ]
    }

    /// Finds tables by schema and names: name, kind, columns, constraints.
    static let look = """
      SELECT c.relname::text, c.relkind::text || c.relpersistence::text,
        (SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', '
           ORDER BY a.attnum)
         FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
        (SELECT string_agg(k.conname, ', ' ORDER BY k.conname COLLATE "C")
         FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u'))
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname IN ($2, $3, $4, $5)
      """

    /// The version of the tables.
    static let version: Int64 = 1
  }
#endif
