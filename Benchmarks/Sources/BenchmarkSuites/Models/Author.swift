/// Who wrote a message.
struct Author: Codable, Equatable, Sendable {
  let identifier: String
  let name: String
  let followerCount: Int

  var modelIdentifier: String? { identifier }
}
