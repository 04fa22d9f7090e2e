#if PostgreSQL
  import CPandoPostgreSQL
  import PandoSystem

  /// What is given to a statement.
  enum PostgreSQLValue {
    case number(Int64?)
    case text(String)
    case bytes([UInt8])

    /// The number that the server knows its type by.
    var type: Oid {
      switch self {
      case .number: 20
      case .text: 25
      case .bytes: 17
      }
    }

    /// It as the server takes it in binary form; `nil` for none.
    var binary: [UInt8]? {
      switch self {
      case .number(let number):
        number.map { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
      case .text(let text): Array(text.utf8)
      case .bytes(let bytes): bytes
      }
    }
  }

  /// The rows that a statement has given, in binary form.
  @safe
  final class PostgreSQLRows {
    private let handle: OpaquePointer

    /// Takes an answer over.
    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe PQclear(handle) }

    var count: Int { Int(unsafe PQntuples(handle)) }
    var isEmpty: Bool { count == 0 }

    func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
      guard unsafe PQgetisnull(handle, CInt(row), CInt(column)) == 0,
        let start = unsafe PQgetvalue(handle, CInt(row), CInt(column))
      else { return nil }
      let count = Int(unsafe PQgetlength(handle, CInt(row), CInt(column)))
      // It lies in the answer, which is there as long as this call.
      return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    func text(_ row: Int, _ column: Int) -> String {
      String(decoding: bytes(row, column) ?? [], as: UTF8.self)
    }

    /// A `bigint`; `nil` if there is none.
    func number(_ row: Int, _ column: Int) -> Int64? {
      guard let bytes = bytes(row, column), bytes.count == 8 else { return nil }
      return bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
  }
#endif
