#if PostgreSQL
  import CPandoPostgreSQL
  import PandoSystem

  /// A parameter of a statement.
  enum PostgreSQLValue {
    case number(Int64?)
    case text(String)
    case bytes([UInt8])

    /// The server's number of the type.
    var type: Oid {
      switch self {
      case .number: 20
      case .text: 25
      case .bytes: 17
      }
    }

    /// The binary form of the value; `nil` for NULL.
    var binary: [UInt8]? {
      switch self {
      case .number(let number):
        number.map { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
      case .text(let text): Array(text.utf8)
      case .bytes(let bytes): bytes
      }
    }
  }

  /// The rows of a result, in binary form.
  @safe
  final class PostgreSQLRows {
    private let handle: OpaquePointer

    /// Takes ownership of a result.
    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe PQclear(handle) }

    var count: Int { Int(unsafe PQntuples(handle)) }
    var isEmpty: Bool { count == 0 }

    func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
      guard unsafe PQgetisnull(handle, CInt(row), CInt(column)) == 0,
        let start = unsafe PQgetvalue(handle, CInt(row), CInt(column))
      else { return nil }
      let count = Int(unsafe PQgetlength(handle, CInt(row), CInt(column)))
      // The bytes lie in the result, which outlives this call.
      return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    func text(_ row: Int, _ column: Int) -> String {
      String(decoding: bytes(row, column) ?? [], as: UTF8.self)
    }

    /// Returns a `bigint`; `nil` for NULL.
    func number(_ row: Int, _ column: Int) -> Int64? {
      guard let bytes = bytes(row, column), bytes.count == 8 else { return nil }
      return bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
  }
#endif
