import Pando

/// A child that many live trees share.
@Model struct LiveAuthor {
  let identifier: String
  let number: Int

  var modelIdentifier: String { identifier }
}

/// The common fields of live trees.
protocol LivePost: Model, Codable, Equatable {
  init(identifier: String, number: Int, author: LiveAuthor)

  var number: Int { get }
  var author: LiveAuthor { get }
}

/// A tree whose type names its children by key path.
struct KeyPathPost: LivePost, KeyPathModel {
  let identifier: String
  let number: Int
  var author: LiveAuthor

  var modelIdentifier: String? { identifier }
  static let children = Children(\KeyPathPost.author)
}

/// A tree whose type walks over its children itself.
struct HandmadePost: LivePost {
  let identifier: String
  let number: Int
  let author: LiveAuthor

  var modelIdentifier: String? { identifier }

  func map(_ transform: (any Model) -> (any Model)?) -> HandmadePost? {
    guard let author = transform(author) as? LiveAuthor else { return nil }
    return HandmadePost(identifier: identifier, number: number, author: author)
  }

  func forEach(_ visit: (any Model) -> Void) { visit(author) }
}

/// A tree whose children are found through its coding.
struct AutomaticPost: LivePost {
  let identifier: String
  let number: Int
  let author: LiveAuthor

  var modelIdentifier: String? { identifier }
}
