import Pando

/// The fields of a ``Message`` with author and image, stored as one node.
struct MessageBlob: SimpleModel, Codable, Equatable {
  struct Part: Codable, Equatable {
    let identifier: String
    let name: String
    let followerCount: Int
  }

  struct Picture: Codable, Equatable {
    let identifier: String
    let url: String
    let width: Int
    let height: Int
  }

  let identifier: String
  let text: String
  let sentAt: Int
  let likeCount: Int
  let author: Part
  let image: Picture?

  var modelIdentifier: String? { identifier }

  init(_ message: Message) {
    identifier = message.identifier
    text = message.text
    sentAt = message.sentAt
    likeCount = message.likeCount
    author = Part(
      identifier: message.author.identifier, name: message.author.name,
      followerCount: message.author.followerCount)
    image = message.image.map { image in
      Picture(
        identifier: image.identifier, url: image.url, width: image.width, height: image.height)
    }
  }
}
