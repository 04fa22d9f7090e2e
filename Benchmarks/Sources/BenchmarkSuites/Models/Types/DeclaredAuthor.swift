import Pando

/// An ``Author`` whose coding a macro makes.
@Model("Author") struct DeclaredAuthor: AuthorContent {
  let identifier: String
  let name: String
  let followerCount: Int

  var modelIdentifier: String { identifier }

  init(_ author: Author) {
    identifier = author.identifier
    name = author.name
    followerCount = author.followerCount
  }
}
