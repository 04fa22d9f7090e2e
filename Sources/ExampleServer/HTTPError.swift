/// Why a request was refused: the status of the answer, and a sentence for the client.
package struct HTTPError: Error, Equatable {
  package let status: Int
  package let reason: String
  /// With status 405, the methods that the path has.
  package let allowed: String

  package init(_ status: Int, _ reason: String, allowed: String = "") {
    self.status = status
    self.reason = reason
    self.allowed = allowed
  }
}
