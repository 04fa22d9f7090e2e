import CPandoLMDB

/// Turns a status code of LMDB or of the system into an error.
///
/// Every C status code of this module passes through here.
///
/// - Parameters:
///   - status: What the C function returned; 0 is success.
///   - function: The C function.
///   - detail: What was asked for; evaluated for an error only.
/// - Throws: ``LMDBError`` with the code, unless it is 0.
@inline(__always)
func check(
  _ status: CInt, _ function: StaticString, _ detail: @autoclosure () -> String = ""
) throws(LMDBError) {
  guard status == 0 else {
    throw LMDBError(
      LMDBError.Code(rawValue: status), function: function.description, detail: detail())
  }
}

/// Like ``check(_:_:_:)``, for calls that may find nothing.
///
/// - Returns: `false` if the status is `MDB_NOTFOUND`.
/// - Throws: ``LMDBError`` for every other status but 0.
@inline(__always)
func checkFound(_ status: CInt, _ function: StaticString) throws(LMDBError) -> Bool {
  if status == 0 { return true }
  if status == MDB_NOTFOUND { return false }
  throw LMDBError(LMDBError.Code(rawValue: status), function: function.description)
}
