import Pando

/// A ``Discussion`` whose coding a macro makes.
@Model("Discussion") struct DeclaredDiscussion: DiscussionContent {
  let identifier: String
  let title: String
  let messages: [DeclaredMessage]

  var modelIdentifier: String { identifier }

  init(_ discussion: Discussion) {
    identifier = discussion.identifier
    title = discussion.title
    messages = discussion.messages.map { DeclaredMessage($0) }
  }
}
