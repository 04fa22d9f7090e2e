/// Messages of which ten share an author each, and how they change.
struct ScaleForest {
  let messages: [Message]
  /// The messages to get.
  let lookups: [Message]
  /// Messages as they are, and the same ones as they become.
  let messagesToChange: [Message]
  let changedMessages: [Message]
  /// Authors as they are, and the same ones as they become.
  let authorsToChange: [Author]
  let changedAuthors: [Author]

  init(_ data: ModelData, nodeCount: Int, changeCount: Int, lookupCount: Int) {
    let authors = (0..<nodeCount / 11).map { data.author($0) }
    let messages = (0..<authors.count * 10).map { index in
      data.message(index, author: authors[index / 10], image: nil)
    }
    self.messages = messages
    lookups = data.order(lookupCount, of: messages.count).map { messages[$0] }
    // Every n-th, so that none comes twice, in no order of their keys.
    let step = max(1, messages.count / changeCount)
    messagesToChange = stride(from: 0, to: messages.count, by: step).map { messages[$0] }
    changedMessages = messagesToChange.map { message in
      Message(
        identifier: message.identifier, text: message.text, sentAt: message.sentAt + 1,
        likeCount: message.likeCount + 1, author: message.author, image: nil)
    }
    let authorStep = max(1, authors.count / changeCount)
    authorsToChange = stride(from: 0, to: authors.count, by: authorStep).map { authors[$0] }
    changedAuthors = authorsToChange.map { author in
      Author(
        identifier: author.identifier, name: author.name,
        followerCount: author.followerCount + 1)
    }
  }
}
