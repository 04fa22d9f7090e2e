/// What a message shows.
struct Image: Codable, Equatable, Sendable {
  let identifier: String
  let url: String
  let width: Int
  let height: Int

  var modelIdentifier: String? { identifier }
}
