/// Why a request was refused: the status of the answer, and a sentence for the client.
struct HTTPError: Error, Equatable {
  let status: Int
  let reason: String
  /// With status 405, the methods that the path has.
  let allowed: String

  init(_ status: Int, _ reason: String, allowed: String = "") {
    self.status = status
    self.reason = reason
    self.allowed = allowed
  }
}
