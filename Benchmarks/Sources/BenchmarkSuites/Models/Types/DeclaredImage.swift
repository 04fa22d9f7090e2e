import Pando

/// An ``Image`` whose coding a macro makes.
@Model("Image") struct DeclaredImage: ImageContent {
  let identifier: String
  let url: String
  let width: Int
  let height: Int

  var modelIdentifier: String { identifier }

  init(_ image: Image) {
    identifier = image.identifier
    url = image.url
    width = image.width
    height = image.height
  }
}
