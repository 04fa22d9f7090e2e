import Pando

/// A ``Message`` whose coding a macro makes.
@Model("Message") struct DeclaredMessage: MessageContent {
  let identifier: String
  let text: String
  let sentAt: Int
  let likeCount: Int
  let author: DeclaredAuthor
  let image: DeclaredImage?

  var modelIdentifier: String { identifier }

  init(_ message: Message) {
    identifier = message.identifier
    text = message.text
    sentAt = message.sentAt
    likeCount = message.likeCount
    author = DeclaredAuthor(message.author)
    image = message.image.map { DeclaredImage($0) }
  }
}
